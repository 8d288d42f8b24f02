// SPDX-License-Identifier: Apache-2.0
// Data. Read in Linux 6.12: for each driver with ndo_xdp_xmit() what its receive path does before it runs an
// XDP program and what afterwards, and what ndo_start_xmit() does that ndo_xdp_xmit() does not. Frames that
// come in with a tag beside them are no matter of this list: whether a device takes tags out is told
// (rxvlan), and asked of every port.
#include "assemble/devices.hpp"

namespace tna::assemble {

namespace {
constexpr const char* whole = "whole, if tags are left in";
constexpr const char* alike = "as by Linux";
constexpr const char* others = "others receive for it";
constexpr const char* below =
    "what lies below has filters, queues and captures of its own, which would be missed";

/// Ends of cables whose XDP does all that Linux does.
std::vector<Device> ports() {
    return {
        {.names = {"veth"},
         .receive = Receive::seen,
         .received =
             "checksums, segments and tags that a local sender has not finished are seen beside each frame",
         .send = Send::same,
         .sent = "as by Linux, but for tagged frames of one to four bytes too much for the other end",
         .evidence = Evidence::tested},
        {.names = {"virtio_net"},
         .receive = Receive::finished,
         .received =
             "whole: attaching has the host finish frames, or is refused (virtnet_clear_guest_offloads())",
         .send = Send::same,
         .sent = alike},
        {.names = {"ena"},
         .receive = Receive::finished,
         .received = whole,
         .send = Send::same,
         .sent = alike},
        {.names = {"fsl_dpaa2_eth", "fsl_enetc", "funeth", "gve", "mvpp2", "netsec", "sfc", "sfc_siena",
                   "tsnep"},
         .receive = Receive::finished,
         .received = whole,
         .send = Send::same,
         .sent = alike},
        {.names = {"bnxt_en"},
         .receive = Receive::finished,
         .received = whole,
         .send = Send::same,
         .sent = "as by Linux, which pads frames up to BNXT_MIN_PKT_SIZE",
         .shortest = 52},
        {.names = {"fsl_dpa"},
         .receive = Receive::finished,
         .received = whole,
         .send = Send::same,
         .sent = "as by Linux, which pads frames up to 60 bytes (__skb_put_padto())",
         .shortest = 60},
        {.names = {"i40e", "ice", "igb", "igc", "ixgbe"},
         .receive = Receive::finished,
         .received = "whole, if tags are left in; time stamps in front of a frame are taken off before",
         .send = Send::same,
         .sent = "as by Linux, which pads frames up to 17 bytes (skb_put_padto())",
         .shortest = 17},
        {.names = {"mlx5_core"},
         .receive = Receive::finished,
         .received = "whole, if tags are left in; LRO and XDP exclude each other (mlx5e_xdp_allowed())",
         .send = Send::same,
         .sent = "as by Linux, but it refuses frames of less than MLX5E_XDP_MIN_INLINE",
         .shortest = 18},
        {.names = {"mana", "qede"},
         .receive = Receive::undone,
         .received = "without their tags, which are always taken out",
         .send = Send::same,
         .sent = alike},
        {.names = {"vmxnet3"},
         .receive = Receive::undone,
         .received = "those of machines on the same host may have unfinished checksums (vmxnet3_rx_csum())",
         .send = Send::same,
         .sent = alike},
    };
}

/// Those that leave something out.
std::vector<Device> doubtfulPorts() {
    return {
        {.names = {"tun"},
         .receive = Receive::undone,
         .received =
             "VIRTIO_NET_HDR_F_NEEDS_CSUM and segments are looked at after the program (tun_build_skb(), "
             "tun_xdp_one())",
         .send = Send::skips,
         .sent = "TUNSETTXFILTER, TUNATTACHFILTER, TUNSETFILTEREBPF and TUNSETSTEERINGEBPF (tun_xdp_xmit())",
         .evidence = Evidence::tested},
        {.names = {"vif", "xen_netfront"},
         .receive = Receive::undone,
         .received = "XEN_NETRXF_csum_blank and segments are looked at after the program (xennet_run_xdp())",
         .send = Send::skips,
         .sent = "the question whether its ring has room (xennet_xdp_xmit_one())"},
        {.names = {"hv_netvsc"},
         .receive = Receive::undone,
         .received =
             "without their tags, and some without the checksum of their IP header (netvsc_alloc_recv_skb())",
         .send = Send::skips,
         .sent = "filters and queues of the virtual function below (netvsc_ndoxdp_xmit())",
         .sameAtTcx = true},
        {.names = {"st_gmac", "st_mac100", "st_xgmac"},
         .receive = Receive::finished,
         .received = whole,
         .send = Send::skips,
         .sent = "that checksums stay as they are: the hardware writes all of them anew "
                 "(stmmac_xdp_xmit_xdpf())"},
        {.names = {"mvneta"},
         .receive = Receive::finished,
         .received = whole,
         .send = Send::skips,
         .sent = "to tell the hardware to leave checksums alone: MVNETA_TX_L4_CSUM_NOT "
                 "(mvneta_xdp_submit_frame())"},
        {.names = {"cpsw", "cpsw-switch"},
         .receive = Receive::undone,
         .received = "tags are looked at after the program (cpsw_rx_vlan_encap())",
         .send = Send::skips,
         .sent = "padding: it loses frames of less than 60 bytes (cpsw_ndo_xdp_xmit())"},
        {.names = {"atlantic"},
         .receive = Receive::finished,
         .received = whole,
         .send = Send::skips,
         .sent =
             "that packets of PTP (UDP, ports 319 and 320) leave by a queue which puts the time into them "
             "(aq_ndev_start_xmit())"},
        {.names = {"am65-cpsw-nuss"},
         .receive = Receive::finished,
         .received = whole,
         .send = Send::skips,
         .sent = "to take back what the hardware was told of an earlier frame's checksum "
                 "(am65_cpsw_xdp_tx_frame())"},
        {.names = {"fec"},
         .receive = Receive::finished,
         .received = whole,
         .send = Send::skips,
         .sent = "to copy frames that lie where the hardware cannot read them (fec_enet_txq_submit_skb())"},
        {.names = {"mtk_soc_eth"},
         .receive = Receive::finished,
         .received = whole,
         .send = Send::skips,
         .sent = "the queue that Linux chooses, and its rate (mtk_xdp_submit_frame())"},
        {.names = {"lan966x-switch"},
         .receive = Receive::undone,
         .received = "with the check sequence of the wire behind them (lan966x_xdp_run())",
         .send = Send::skips,
         .sent = "the class by which the switch sends them (lan966x_port_xmit())"},
        {.names = {"rvu-nicpf"},
         .receive = Receive::finished,
         .received = whole,
         .send = Send::skips,
         .sent = "the question whether there is a queue for the CPU (otx2_xdp_xmit())"},
        {.names = {"ionic"},
         .receive = Receive::finished,
         .received = whole,
         .send = Send::skips,
         .sent = "to tell frames that are lost from frames that are sent, where memory cannot be mapped "
                 "(ionic_xdp_xmit())"},
    };
}

/// A device that is a face of others: its name is on the frames, and others receive and send them.
Device face(std::vector<std::string> names, std::string sent = below, Evidence evidence = Evidence::read,
            std::string received = others) {
    return {.names = std::move(names),
            .receive = Receive::never,
            .received = std::move(received),
            .send = Send::never,
            .sent = std::move(sent),
            .evidence = evidence};
}

/// What is sent by it is sent by those below, of which each frame is asked.
Device passingOn(Device face) {
    face.sameAtTcx = true;
    return face;
}

std::vector<Device> faces() {
    return {
        passingOn(face({"bond"},
                       std::string(below) + "; it may choose another of them than Linux does "
                                            "(bond_xdp_get_xmit_slave()), and while it has a "
                                            "program, refuses settings and members",
                       Evidence::tested)),
        passingOn(face({"team"}, below, Evidence::tested)),
        passingOn(face({"net_failover", "vlan"})),
        face({"macvlan", "macvtap", "ipvlan", "ipvtap"}, below, Evidence::tested),
        face({"bridge", "dsa", "hsr", "macsec", "vrf"}),
        face({"amt", "bareudp", "erspan", "geneve", "gre", "gretap", "gtp", "ip6erspan", "ip6gre",
              "ip6gretap", "ip6tnl", "ipip", "pfcp", "sit", "vti", "vti6", "vxlan", "wireguard", "xfrm"},
             "packets are put into packets, which are routed by themselves", Evidence::read,
             "packets come in packets"),
        face({"dummy", "ifb", "netkit", "nlmon", "vcan", "vsockmon"}, "there is no cable, and no native XDP",
             Evidence::read, "there is no cable, and no native XDP"),
    };
}
} // namespace

const std::vector<Device>& knownDevices() {
    static const auto all = [] {
        auto list = ports();
        for (auto part : {doubtfulPorts(), faces()})
            list.insert(list.end(), std::make_move_iterator(part.begin()),
                        std::make_move_iterator(part.end()));
        return list;
    }();
    return all;
}

} // namespace tna::assemble

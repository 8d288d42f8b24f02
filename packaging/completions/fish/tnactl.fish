# SPDX-License-Identifier: Apache-2.0
# What may be a port in this network namespace, as the kernel knows it: bridge ports, and links that forward. Needs no
# privileges.
function __tna_ports
    for link in (command ls /sys/class/net)
        test $link = lo; and continue
        if test -e /sys/class/net/$link/brport
            or command grep -qsx 1 /proc/sys/net/ipv{4,6}/conf/$link/forwarding
            echo $link
        end
    end
end
set -l in __fish_seen_subcommand_from
set -l commands status top explain route graph capabilities rules module function trace events pause resume
set -l no_command "not $in $commands"

complete -c tnactl -f
complete -c tnactl -n $no_command -a status -d 'every port, with rates'
complete -c tnactl -n $no_command -a top -d 'the same, live'
complete -c tnactl -n $no_command -a explain -d 'why a port is or is not accelerated'
complete -c tnactl -n $no_command -a route -d 'what the fast path does with a packet'
complete -c tnactl -n $no_command -a graph -d 'what depends on what'
complete -c tnactl -n $no_command -a capabilities -d 'what this kernel and its drivers can do'
complete -c tnactl -n $no_command -a rules -d 'firewall rules, which could be accelerated'
complete -c tnactl -n $no_command -a module -d 'custom modules, code of your own'
complete -c tnactl -n $no_command -a function -d 'network functions in user space'
complete -c tnactl -n $no_command -a trace -d 'packets, with what is decided about each'
complete -c tnactl -n $no_command -a events -d 'what happens, as it happens'
complete -c tnactl -n $no_command -a pause -d 'leave a port, or all, to Linux'
complete -c tnactl -n $no_command -a resume -d 'accelerate it again'
complete -c tnactl -l socket -r -F -d "tnad's control socket"
complete -c tnactl -l namespace -x -a '(command ls /run/netns 2>/dev/null)' -d 'of that instance'
complete -c tnactl -l json -d 'for programs'
complete -c tnactl -s h -l help -d 'show the options'
complete -c tnactl -n $no_command -l version -d 'show the version'

complete -c tnactl -n "$in explain pause resume; and not $in function" -a '(__tna_ports)'
complete -c tnactl -n "$in trace" -l port -x -a '(__tna_ports)' -d 'packets that come in by it'
complete -c tnactl -n "$in trace" -l every -x -d 'one in so many'
complete -c tnactl -n "$in trace" -l pcap -r -F -d 'write them into a file'
complete -c tnactl -n "$in events trace" -l count -x -d 'end after so many'
complete -c tnactl -n "$in graph" -l dot -d 'for Graphviz'
complete -c tnactl -n "$in route; and not $in get" -a get
complete -c tnactl -n "$in route; and not $in from" -a from
complete -c tnactl -n "$in route; and not $in iif" -a iif
complete -c tnactl -n "$in route; and $in iif" -a '(__tna_ports)'

set -l places insert replace remove list show
complete -c tnactl -n "$in module; and not $in $places" -a "$places"
complete -c tnactl -n "$in module; and $in insert replace" -F
complete -c tnactl -n "$in module" -l name -x -d 'what it is called'
complete -c tnactl -n "$in module" -l hook -x -a 'ingress bridge route egress' -d where
complete -c tnactl -n "$in module" -l port -x -a '(__tna_ports)' -d 'shell pattern of port names'
complete -c tnactl -n "$in module" -l kind -x -d 'of link kinds or drivers'
complete -c tnactl -n "$in module" -l priority -x -d 'lower ones first'
complete -c tnactl -n "$in module" -l map -x -d 'one of its maps'

set -l declares add remove list show bypass resume
complete -c tnactl -n "$in function; and not $in $declares" -a "$declares"
complete -c tnactl -n "$in function; and $in add" -F
complete -c tnactl -n "$in function" -l name -x -d 'what it is called'

// SPDX-License-Identifier: Apache-2.0
#include "api/peer.hpp"

#include <sys/socket.h>

namespace tna::api {

Result<Peer> peerOf(int socket) {
    ucred credentials{};
    socklen_t size = sizeof(credentials);
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0)
        return failErrno(errno, "cannot tell who connected");
    Peer peer{credentials.uid, std::vector<gid_t>(32)};
    // The kernel says how many there are, if there is no room for them.
    for (int error = ERANGE; error == ERANGE; peer.groups.resize(size / sizeof(gid_t))) {
        size = static_cast<socklen_t>(peer.groups.size() * sizeof(gid_t));
        error = ::getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, peer.groups.data(), &size) == 0 ? 0 : errno;
        if (error != 0 && error != ERANGE)
            return failErrno(error, "cannot tell which groups the one who connected is in");
    }
    peer.groups.push_back(credentials.gid);
    return peer;
}

} // namespace tna::api

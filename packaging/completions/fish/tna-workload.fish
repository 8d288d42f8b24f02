# SPDX-License-Identifier: Apache-2.0
set -l works macswap checksum lookup firewall chain forward back drop
complete -c tna-workload -f
complete -c tna-workload -n "not __fish_seen_subcommand_from $works" -a "$works"
complete -c tna-workload -l socket -r -F -d 'of tnad for network functions'
complete -c tna-workload -l queue -x -d 'a thread for this queue of each port'
complete -c tna-workload -l entries -x -d 'of the table of lookup, firewall and chain'
complete -c tna-workload -l sessions -x -d 'that chain knows'
complete -c tna-workload -l times -x -d 'that a checksum is computed'
complete -c tna-workload -l then -x -a 'send back drop' -d 'what becomes of frames'
complete -c tna-workload -l counts -r -F -d 'a file of what has become of frames'
complete -c tna-workload -l count -x -d 'end after so many frames'
complete -c tna-workload -l busy -d 'never sleep'
complete -c tna-workload -s h -l help -d 'show the options'
complete -c tna-workload -l version -d 'show the version'

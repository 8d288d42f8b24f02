# SPDX-License-Identifier: Apache-2.0
set -l in __fish_seen_subcommand_from
set -l no_command "not $in random run"

complete -c tna-diff -f
complete -c tna-diff -n $no_command -a random -d 'random configurations, changes and packets'
complete -c tna-diff -n $no_command -a run -d 'a configuration and packets of your own, or a difference again'
complete -c tna-diff -n $no_command -l version -d 'show the version'
complete -c tna-diff -s h -l help -d 'show the options'

complete -c tna-diff -n "$in random run" -l fdb -x -a 'auto in-place kfunc mirror' -d 'how stations are found'
complete -c tna-diff -n "$in random run" -l hook -x -a 'xdp tcx' -d 'where ports are accelerated'
complete -c tna-diff -n "$in random run" -l folder -x -a '(__fish_complete_directories)' -d 'for differences'
complete -c tna-diff -n "$in random run" -l patience -x -d 'seconds for making a difference smaller'
complete -c tna-diff -n "$in random run" -l json -d 'figures for programs'
complete -c tna-diff -n "$in random" -l seeds -x -d 'which configurations, A..B'
complete -c tna-diff -n "$in random" -l packets -x -d 'for each'
complete -c tna-diff -n "$in random" -l kind -x -a 'any bridge vlan router routed-bridge vlan-router vrf tables route-options qdisc sysctl links firewall nat bridged-firewall bridge-rules containers' -d 'of configuration'
complete -c tna-diff -n "$in random" -l keep-going -d 'do not end with the first difference'
complete -c tna-diff -n "$in run" -F
complete -c tna-diff -n "$in run" -l packets -r -F -d 'pcap or pcapng'
complete -c tna-diff -n "$in run" -l port -x -d 'where frames of a pcap file arrive'

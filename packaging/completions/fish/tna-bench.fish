# SPDX-License-Identifier: Apache-2.0
set -l in __fish_seen_subcommand_from
set -l commands throughput rfc2544 latency kill reaction containers change micro report repeat clean
set -l no_command "not $in $commands"

complete -c tna-bench -f
complete -c tna-bench -n $no_command -a throughput -d 'frames per second at full offer'
complete -c tna-bench -n $no_command -a rfc2544 -d 'the highest rate without loss'
complete -c tna-bench -n $no_command -a latency -d 'how long frames take at fixed loads'
complete -c tna-bench -n $no_command -a kill -d 'SIGKILL of tnad under load'
complete -c tna-bench -n $no_command -a reaction -d "tnad's own times"
complete -c tna-bench -n $no_command -a containers -d 'sockets of two containers'
complete -c tna-bench -n $no_command -a change -d 'how soon a change of the configuration holds'
complete -c tna-bench -n $no_command -a micro -d 'what each module costs'
complete -c tna-bench -n $no_command -a report -d 'one HTML page of result files'
complete -c tna-bench -n $no_command -a repeat -d 'measure what was measured in a result file'
complete -c tna-bench -n $no_command -a clean -d 'remove what killed runs have left'
complete -c tna-bench -n $no_command -l version -d 'show the version'
complete -c tna-bench -s h -l help -d 'show the options'

# What measurements have in common: all, those of frames, those that set up what lies in between.
set -l all "$in throughput rfc2544 latency kill reaction containers change micro"
set -l frames "$in throughput rfc2544 latency kill"
set -l setup "$in throughput rfc2544 latency"
complete -c tna-bench -n $all -l json -d 'every value, for programs'
complete -c tna-bench -n "$in throughput rfc2544 latency kill reaction containers change repeat" -l tnad -r -F -d 'the daemon to run'
complete -c tna-bench -n "$in throughput rfc2544 latency kill reaction" -l stations -x -d 'numbers of pairs of stations'
complete -c tna-bench -n $frames -l size -x -d 'frame size in bytes'
complete -c tna-bench -n "$in throughput rfc2544 latency kill containers micro" -l rounds -x -d 'rounds, or kills'
complete -c tna-bench -n "$in throughput rfc2544 latency kill containers" -l seconds -x -d 'length of each measurement'
complete -c tna-bench -n $setup -l scenario -x -a 'bridge router router6 bridges firewall firewall6' -d 'what lies in between'
complete -c tna-bench -n $setup -l generator -x -a 'auto live xdp packet' -d 'who sends'
complete -c tna-bench -n $setup -l tx -x -a '(__fish_print_interfaces)' -d 'send by this interface'
complete -c tna-bench -n $setup -l rx -x -a '(__fish_print_interfaces)' -d 'receive by this interface'
complete -c tna-bench -n $setup -l dut -x -a none -d 'who has the machine under test forward'
complete -c tna-bench -n $setup -l force -d 'use interfaces that are in use'
complete -c tna-bench -n "$setup reaction" -l ports -x -d 'ports of the bridge'
complete -c tna-bench -n $setup -l routes -x -d 'that lead to the destinations'
complete -c tna-bench -n $setup -l rules -x -d 'netfilter rules that frames meet'
complete -c tna-bench -n $setup -l routing-rules -x -d 'routing rules that packets meet'
complete -c tna-bench -n $setup -l entries -x -d 'stations that do not talk'
complete -c tna-bench -n $setup -l protocol -x -a 'udp tcp' -d 'what packets carry'
complete -c tna-bench -n $setup -l vlan -x -d 'frames carry an 802.1Q tag'
complete -c tna-bench -n $setup -l vlan-filtering -d 'the bridge filters VLANs'
complete -c tna-bench -n $setup -l reverse -x -d 'frames per second that come back'
complete -c tna-bench -n "$setup change" -l contender -x -d 'separated by commas' \
    -a 'linux linux+nf tna tna-mirror tna@ ceiling direct flowtable xdp-forward ovs ovs-packet dpdk dpdk-packet polycube all'

complete -c tna-bench -n "$in throughput" -l cpus -x -d 'numbers of CPUs'
complete -c tna-bench -n "$in throughput" -l sizes -x -d 'frame sizes in bytes'
complete -c tna-bench -n "$in throughput" -l tracking -x -a 'established one-way new off' -d 'what flows are to connection tracking'
complete -c tna-bench -n "$in throughput" -l rule-changes -x -d 'changes of the rules per second'
complete -c tna-bench -n "$in throughput" -l quick -d 'ten rounds on one CPU'
complete -c tna-bench -n "$in throughput" -l paper -d 'ten rounds of ten seconds'
complete -c tna-bench -n "$in rfc2544 latency" -l loss -x -d 'per cent that may be lost'
complete -c tna-bench -n "$in rfc2544" -l precision -x -d 'per cent of the rate'
complete -c tna-bench -n "$in latency" -l loads -x -d 'per cent of what the slowest can carry'
complete -c tna-bench -n "$in latency" -l round-trip -d 'there and back'
complete -c tna-bench -n "$in change reaction" -l changes -x -d 'of each kind'
complete -c tna-bench -n "$in change" -l rate -x -d 'frames per second'
complete -c tna-bench -n "$in reaction" -l starts -x -d 'number of starts'
complete -c tna-bench -n "$in containers" -l routed -d 'on ports of a router'
complete -c tna-bench -n "$in reaction" -l idle -x -d 'seconds of rest'
complete -c tna-bench -n "$in micro" -l frames -x -d 'in each round'
complete -c tna-bench -n "$in micro" -l budgets -r -F -d 'of instructions'
complete -c tna-bench -n "$in micro" -l update -d 'write that file'
complete -c tna-bench -n "$in report" -l output -r -F -d 'the page'
complete -c tna-bench -n "$in report" -l title -x -d 'its title'
complete -c tna-bench -n "$in report repeat" -F

# SPDX-License-Identifier: Apache-2.0
complete -c tnad -f
complete -c tnad -l config -r -F -d 'configuration file'
complete -c tnad -l socket -r -F -d 'control socket'
complete -c tnad -l log-level -x -a 'trace debug info warning error critical off' -d 'how much is told'
complete -c tnad -l check-config -d 'check the configuration file and exit'
complete -c tnad -s h -l help -d 'show the options'
complete -c tnad -l version -d 'show the version'

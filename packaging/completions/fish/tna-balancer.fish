# SPDX-License-Identifier: Apache-2.0
complete -c tna-balancer -l interval -x -d 'seconds between statistics'
complete -c tna-balancer -l json -d 'statistics as JSON'
complete -c tna-balancer -l socket -r -F -d 'of tnad for network functions'
complete -c tna-balancer -l busy -d 'never sleep'
complete -c tna-balancer -s h -l help -d 'show the options'
complete -c tna-balancer -l version -d 'show the version'

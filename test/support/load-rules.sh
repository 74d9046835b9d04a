# Run by kernel.ts inside a network namespace of its own. Reads jobs from standard input, one a line:
#
#     TOOL FORMAT INPUT OUTPUT      TOOL iptables-legacy, ip6tables-nft …; FORMAT save or restore
#
# loads INPUT, writes what the kernel then holds to OUTPUT and complaints to OUTPUT.err; OUTPUT is not written
# where a step failed. A file in the save format replaces the tables that it names, so no job sees the one
# before it; one in the restore format leaves alone what it does not name, so the tables are emptied first.
set -u
empty=$1
ip link set lo up || exit 1
# kube-proxy 1.31 and later count in these, and its rules load only where they exist.
nfacct add ct_state_invalid_dropped_pkts && nfacct add localhost_nps_accepted_pkts || exit 1
while read -r tool format input output; do
  {
    if [ "$format" = restore ]; then
      "$tool-restore" -w 60 <"$empty" && "$tool-restore" -w 60 --noflush <"$input"
    else
      "$tool-restore" -w 60 <"$input"
    fi && "$tool-save" >"$output.part" && mv "$output.part" "$output"
  } 2>"$output.err"
done
exit 0

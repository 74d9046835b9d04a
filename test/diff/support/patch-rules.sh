# Run by patched-kernel.ts inside a network namespace of its own. Reads jobs from standard input, one a line:
#
#     TOOL STATE PATCH OUTPUT      TOOL iptables-legacy, ip6tables-nft …
#
# loads STATE, which replaces all tables, applies PATCH to it (`-`: none) and writes what the kernel then holds to
# OUTPUT, and complaints to OUTPUT.err; OUTPUT is not written where a step failed.
set -u
ip link set lo up || exit 1
# Rules of kube-proxy 1.31 and later load only where these exist.
nfacct add ct_state_invalid_dropped_pkts && nfacct add localhost_nps_accepted_pkts || exit 1
while read -r tool state patch output; do
  {
    "$tool-restore" -w 60 <"$state" &&
      if [ "$patch" != - ]; then "$tool-restore" -w 60 --noflush <"$patch"; fi &&
      "$tool-save" >"$output.part" && mv "$output.part" "$output"
  } 2>"$output.err"
done
exit 0

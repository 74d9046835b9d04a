# Run by uml.ts as process 1 of a User-Mode Linux kernel, whose root is the host's own file system: only what lies
# under JOBS is written. `sh uml-init.sh JOBS` runs every JOBS/case-*/script in its folder and in a network namespace
# of its own, and writes stdout, stderr and code beside it; then the machine is switched off.
jobs=$1
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C
# Nothing outlives this, whatever a script does and whether or not anybody still waits.
(sleep 600; poweroff -f) &
mount -t proc proc /proc
mount -t sysfs sys /sys
# The locks of iptables are not those of the host.
mount -t tmpfs run /run
{
  modules=ip_vs
  for scheduler in rr wrr lc wlc lblc lblcr dh sh sed nq fo ovf mh; do modules="$modules ip_vs_$scheduler"; done
  for type in hash_ip hash_ipport hash_ipportip hash_ipportnet bitmap_port; do modules="$modules ip_set_$type"; done
  for name in set ipvs comment mark conntrack addrtype physdev statistic recent nfacct nat MASQUERADE tcpudp; do
    modules="$modules xt_$name"
  done
  for table in filter nat mangle raw; do modules="$modules iptable_$table ip6table_$table"; done
  # The words are to be split.
  # shellcheck disable=SC2086
  modprobe -a -d "$jobs" $modules ipt_REJECT ip6t_REJECT br_netfilter nf_conntrack_netlink dummy
  # What else a script needs, the kernel asks for.
  echo "$jobs/modprobe" >/proc/sys/kernel/modprobe
} >"$jobs/boot" 2>&1
for case in "$jobs"/case-*; do
  cd "$case" || continue
  # Without lo there is no table of local routes, and IPVS takes no address for unicast.
  unshare -n sh -c 'ip link set lo up && . ./script' >stdout 2>stderr </dev/null
  echo $? >code
done
: >"$jobs/done"
poweroff -f

/**
 * Runs scripts on a real kernel that has IPVS: Debian's User-Mode Linux, an ordinary program that boots in two
 * seconds with the machine's own files as its root (package user-mode-linux, modules under /usr/lib/uml). Each
 * case has a network namespace of its own, so a boot serves many.
 *
 * That kernel (6.1) has ip_vs with all schedulers, all set types, xt_set, xt_ipvs, xt_physdev, nfacct, and the
 * legacy tables of iptables; nf_tables has no IPv4 or IPv6 family there, so `iptables-nft` does not work. An
 * ipvsadm or ip command takes some 40 ms, most of it the start of a process.
 */
import { spawn, spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';

export interface UmlCase {
  readonly name: string;
  /** Name → text; they lie in the folder in which the script runs. */
  readonly files: Readonly<Record<string, string>>;
  /** POSIX sh. Its input is empty, its network namespace its own, with lo up. */
  readonly script: string;
}

export interface UmlOutputs {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Files in the folder of the case once its script was over, by name; those that were given too. */
  readonly files: ReadonlyMap<string, string>;
}

const INIT = join(import.meta.dirname, 'uml-init.sh');
const MODULES = '/usr/lib/uml/modules';
const TOOLS = ['linux.uml', 'depmod', 'modprobe', 'unshare', 'ip', 'ipset', 'ipvsadm', 'iptables-legacy'];
/** Longer than the script inside waits before it switches itself off would be of no use. */
const PATIENCE_MS = 600_000;

/** Debian keeps these tools where the path of an ordinary user does not look. */
const environment = { ...process.env, PATH: `${process.env.PATH ?? ''}:/usr/sbin:/sbin` };

/** Why no such kernel can be booted here, in a few words; undefined where it can. */
function umlIsMissing(): string | undefined {
  const script = `for tool in ${TOOLS.join(' ')}; do
    command -v "$tool" >/dev/null || { echo "$tool is not installed"; exit 1; }
  done
  [ "$(id -u)" = 0 ] || { echo "only root can load modules"; exit 1; }`;
  const { status, stdout, error } = spawnSync('sh', ['-c', script], { encoding: 'utf8', env: environment });
  if (error !== undefined) return error.message;
  if (status !== 0) return stdout.trim();
  const folder = `${MODULES}/${kernelVersion()}`;
  return existsSync(folder) ? undefined : `there is no ${folder}`;
}

/**
 * Says so in one line where the kernel is missing; where CI is set, that is an error. For the top of a test file:
 * `describe.skipIf(!canRunUml())`.
 */
export function canRunUml(): boolean {
  const missing = umlIsMissing();
  if (missing === undefined) return true;
  if (process.env.CI !== undefined) throw new Error(`the IPVS kernel tests have to run in CI: ${missing}`);
  process.stderr.write(`Skipped: IPVS kernel tests, for ${missing}.\n`);
  return false;
}

/**
 * Runs each case and returns what it left, by name. The cases are spread over a few kernels, one a core; in each
 * they run one after the other. Names must differ. Throws where a kernel does not get to its end.
 */
export async function runInUml(cases: readonly UmlCase[]): Promise<ReadonlyMap<string, UmlOutputs>> {
  const folder = mkdtempSync(join(tmpdir(), 'kp-compile-uml-'));
  try {
    const workers = Math.max(1, Math.min(availableParallelism(), 4, Math.ceil(cases.length / 8)));
    const shares = Array.from({ length: workers }, (_, worker) =>
      cases.filter((_case, index) => index % workers === worker),
    );
    const outputs = await Promise.all(
      shares.map((share, worker) => boot(share, join(folder, String(worker)))),
    );
    return new Map(outputs.flatMap((own) => [...own]));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function boot(cases: readonly UmlCase[], folder: string): Promise<ReadonlyMap<string, UmlOutputs>> {
  const folders = new Map(
    cases.map(({ name }, index) => [name, join(folder, `case-${String(index).padStart(5, '0')}`)]),
  );
  prepare(folder);
  for (const { name, files, script } of cases) {
    const own = folders.get(name) ?? '';
    mkdirSync(own);
    for (const [file, text] of Object.entries(files)) writeFileSync(join(own, file), text);
    writeFileSync(join(own, 'script'), script);
  }
  await runKernel(folder);
  if (!existsSync(join(folder, 'done'))) {
    throw new Error(`the User-Mode Linux kernel did not get to its end:\n${tail(join(folder, 'console'))}`);
  }
  const complaint = tail(join(folder, 'boot'));
  if (complaint !== '') throw new Error(`the User-Mode Linux kernel did not start well:\n${complaint}`);
  return new Map([...folders].map(([name, own]) => [name, outputsOf(own)]));
}

/** What modprobe and the kernel need: modules in a folder of the form that modprobe knows, and process 1. */
function prepare(folder: string): void {
  const modules = join(folder, 'lib');
  mkdirSync(modules, { recursive: true });
  symlinkSync(MODULES, join(modules, 'modules'));
  const { status, stderr } = spawnSync('depmod', ['-b', folder, kernelVersion()], {
    encoding: 'utf8',
    env: environment,
  });
  if (status !== 0) throw new Error(`depmod: ${stderr}`);
  writeFileSync(join(folder, 'modprobe'), `#!/bin/sh\nexec /sbin/modprobe -d '${folder}' "$@"\n`, {
    mode: 0o755,
  });
  writeFileSync(join(folder, 'init'), `#!/bin/sh\nexec sh '${INIT}' '${folder}'\n`, { mode: 0o755 });
}

function kernelVersion(): string {
  return spawnSync('linux.uml', ['--version'], { encoding: 'utf8', env: environment }).stdout.trim();
}

/** Ends with the kernel; whatever was said on its console is in the file of that name. */
function runKernel(folder: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const out = openSync(join(folder, 'console'), 'w');
    const args = [
      'mem=512M',
      'rootfstype=hostfs',
      'rootflags=/',
      'rw',
      'quiet',
      `uml_dir=${folder}/`,
      'con=null',
      'con0=fd:0,fd:1',
      `init=${join(folder, 'init')}`,
    ];
    const child = spawn('linux.uml', args, {
      env: environment,
      stdio: ['ignore', out, out],
      detached: true,
    });
    closeSync(out);
    // The kernel is a group of processes; none of it stays behind.
    const end = () => {
      if (child.pid === undefined) return;
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch {
        // Gone already.
      }
    };
    const timer = setTimeout(end, PATIENCE_MS);
    process.once('exit', end);
    const over = () => {
      clearTimeout(timer);
      process.removeListener('exit', end);
      end();
    };
    child.on('error', (error) => {
      over();
      reject(error);
    });
    child.on('exit', () => {
      over();
      resolve();
    });
  });
}

function outputsOf(folder: string): UmlOutputs {
  const files = new Map(
    readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => [name, readFileSync(join(folder, name), 'utf8')]),
  );
  const take = (name: string) => {
    const text = files.get(name) ?? '';
    files.delete(name);
    return text;
  };
  const code = take('code').trim();
  take('script');
  return { code: code === '' ? -1 : Number(code), stdout: take('stdout'), stderr: take('stderr'), files };
}

function tail(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8').trim().slice(-2000) : '';
}

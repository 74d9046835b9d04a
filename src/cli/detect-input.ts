/** What an input is: manifests, or what a node has. Told from what it holds, its name only where that is nothing. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Diagnostic } from '../diagnostics.ts';
import { type LoadLimits, readWhole, textOf, type WholeInput } from '../load/index.ts';
import { detectFormat, type Family } from '../netfilter/index.ts';
import type { Io } from './io.ts';
import { emptyListingKind, type IpvsListing, listingKind } from './read-ipvs.ts';

/** A file of rules, not yet parsed. */
export interface RulesFile {
  readonly file: string;
  readonly text: string;
  /** Said by the name of a file of ours in a folder. */
  readonly family?: Family;
}

export type DetectedInput =
  | {
      readonly kind: 'rules';
      readonly files: readonly RulesFile[];
      readonly listings: readonly IpvsListing[];
    }
  /** `whole` where it cannot be read again, or was unpacked. */
  | { readonly kind: 'manifests'; readonly input: string; readonly whole?: WholeInput }
  | { readonly kind: 'unusable'; readonly problem: Diagnostic };

/** Names in a folder that make it one of rules, as kp-compile --out-dir and people write them. */
const RULES_IN_FOLDER: readonly (readonly [string, Family])[] = [
  ['rules.v4', 'ipv4'],
  ['save.v4', 'ipv4'],
  ['rules.v6', 'ipv6'],
  ['save.v6', 'ipv6'],
];

/** Names that make a folder one of what a node has, though it may hold no rules. */
const IPVS_IN_FOLDER = /^(?:ipset|ipvsadm|kube-ipvs0)\b(?!.*\.(?:ya?ml|json)$)/i;

/** More than any listing: a set holds 65536 members, some 40 bytes each. */
const LARGEST_LISTING = 256 * 1024 * 1024;

/** Enough to find out what a text is; manifests may be larger than a string can hold. */
const LOOKED_AT = 4 * 1024 * 1024;

/** Reads a file, a folder or `-` as far as it takes to know what it is: rules whole, of manifests the beginning. */
export async function detectInput(
  input: string,
  io: Io,
  limits: Partial<LoadLimits> = {},
): Promise<DetectedInput> {
  const isFolder = input !== '-' && statSync(input, { throwIfNoEntry: false })?.isDirectory() === true;
  return isFolder ? detectFolder(input, io, limits) : detectFile(input, io, limits);
}

async function detectFolder(folder: string, io: Io, limits: Partial<LoadLimits>): Promise<DetectedInput> {
  let names: Set<string>;
  try {
    names = new Set(readdirSync(folder));
  } catch {
    // The loader of manifests says why.
    return { kind: 'manifests', input: folder };
  }
  const present = RULES_IN_FOLDER.filter(([name]) => names.has(name));
  const isOfIpvs = [...names].some((name) => IPVS_IN_FOLDER.test(name));
  if (present.length === 0 && !isOfIpvs) return { kind: 'manifests', input: folder };
  const files: RulesFile[] = [];
  for (const [name, family] of present) {
    const file = join(folder, name);
    if (files.some((other) => other.family === family)) {
      return unusable(file, `the folder holds rules of ${family} under two names`, 'name the file instead');
    }
    const read = await readText(file, io, limits);
    if (!('text' in read)) return { kind: 'unusable', problem: read };
    files.push({ file, text: read.text, family });
  }
  const listings: IpvsListing[] = [];
  for (const name of [...names].sort()) {
    const file = join(folder, name);
    if (RULES_IN_FOLDER.some(([known]) => known === name) || !isSmallFile(file, name)) continue;
    const read = await readText(file, io, limits);
    if (!('text' in read)) return { kind: 'unusable', problem: read };
    const listing = listingOf(file, read.text);
    if (listing !== undefined) listings.push(listing);
    // Rules under another name count where there are none under their own.
    else if (present.length === 0 && detectFormat(read.text).startsWith('iptables')) {
      files.push({ file, text: read.text });
    }
  }
  return { kind: 'rules', files, listings };
}

/** Not folders, and not what is written in YAML: sockets, logs and the like have no business there either. */
function isSmallFile(file: string, name: string): boolean {
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat?.isFile() === true && stat.size <= LARGEST_LISTING && !/\.ya?ml$|^\./i.test(name);
}

function listingOf(file: string, text: string): IpvsListing | undefined {
  const kind = text.trim() === '' ? emptyListingKind(file) : listingKind(text);
  return kind && { kind, file, text };
}

async function detectFile(file: string, io: Io, limits: Partial<LoadLimits>): Promise<DetectedInput> {
  const whole = await readWhole(file, io.stdin, limits);
  if ('code' in whole) return { kind: 'unusable', problem: whole };
  if (whole.kind === 'tar') return { kind: 'manifests', input: file, whole };
  const start = textOf(file, whole, LOOKED_AT);
  if ('code' in start) return { kind: 'unusable', problem: start };
  if (isManifests(start.text, file)) {
    const isCostly = whole.stat === undefined || whole.packed;
    return { kind: 'manifests', input: file, ...(isCostly ? { whole } : {}) };
  }
  const read = textOf(file, whole);
  if ('code' in read) return { kind: 'unusable', problem: read };
  const listing = listingOf(file, read.text);
  return listing === undefined
    ? { kind: 'rules', files: [{ file, text: read.text }], listings: [] }
    : { kind: 'rules', files: [], listings: [listing] };
}

function isManifests(text: string, file: string): boolean {
  const format = detectFormat(text);
  if (format === 'kubernetes') return true;
  if (listingOf(file, text) !== undefined) return false;
  // Where the text does not say: comments and blanks, YAML that is no object, JSON in one long line.
  if (format !== 'unknown' && format !== 'empty') return false;
  return /^\s*[[{]/.test(text) || /\.(?:ya?ml|json)$/i.test(file);
}

async function readText(
  file: string,
  io: Io,
  limits: Partial<LoadLimits>,
): Promise<{ readonly text: string } | Diagnostic> {
  const raw = await readWhole(file, io.stdin, limits);
  return 'code' in raw ? raw : textOf(file, raw);
}

function unusable(file: string, message: string, help: string): DetectedInput {
  return {
    kind: 'unusable',
    problem: { code: 'ambiguous-input', severity: 'error', message, place: { file }, help },
  };
}

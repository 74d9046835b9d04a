/**
 * `<<` as kubectl takes it. By YAML's own rule a key of the mapping wins over a merged one wherever it stands; go-yaml
 * v2, through which kubectl reads, merges where `<<` stands, over the keys before it (decode.go, mapping and merge).
 */
import { COLLECTION_STYLE, EVENT_ID, type Event, SCALAR_STYLE } from 'js-yaml';

/** Whether any mapping has a merge key: most texts have none. */
export function hasMerges(events: readonly Event[], text: string): boolean {
  return text.includes('<<') && events.some((event) => isMerge(event, text));
}

/**
 * The same events, but a merge that has keys before it comes first, and those keys are merged behind it:
 * `{a: 1, <<: *b, c: 2}` becomes `{<<: *b, <<: {a: 1}, c: 2}`. undefined where more than `most` events would be moved.
 */
export function withMergesInOrder(events: readonly Event[], text: string, most: number): Event[] | undefined {
  const result: Event[] = [];
  const open: Frame[] = [];
  let moved = 0;
  const endOfNode = (): void => {
    const frame = open.at(-1);
    if (frame === undefined || !frame.isMapping) return;
    if (frame.key === undefined) frame.key = frame.next;
    else {
      if (frame.key > frame.start && isMerge(result[frame.key], text)) {
        moved += result.length - frame.start;
        if (moved <= most) moveMerge(result, frame.start, frame.key, text);
      }
      frame.key = undefined;
    }
    frame.next = result.length;
  };
  for (const event of events) {
    result.push(event);
    if (event.type === EVENT_ID.POP) {
      open.pop();
      endOfNode();
    } else if (event.type === EVENT_ID.SCALAR || event.type === EVENT_ID.ALIAS) endOfNode();
    else {
      const start = result.length;
      open.push({ isMapping: event.type === EVENT_ID.MAPPING, start, next: start, key: undefined });
    }
    if (moved > most) return undefined;
  }
  return result;
}

interface Frame {
  readonly isMapping: boolean;
  /** The event behind that of the mapping. */
  readonly start: number;
  /** Where its next key or value begins. */
  next: number;
  /** Where the key begins whose value is next. */
  key: number | undefined;
}

function isMerge(event: Event | undefined, text: string): boolean {
  return (
    event?.type === EVENT_ID.SCALAR &&
    event.style === SCALAR_STYLE.PLAIN &&
    event.valueEnd - event.valueStart === 2 &&
    text.startsWith('<<', event.valueStart)
  );
}

/** Of the pairs from `start` on, the last one is a merge, at `merge`. */
function moveMerge(events: Event[], start: number, merge: number, text: string): void {
  const pairs = events.slice(start, merge);
  const merged = events.slice(merge);
  const [key] = merged;
  // An anchor has to stand before what refers to it; then the keys win, as YAML itself would have it.
  const anchors = new Set(pairs.flatMap((event) => anchorOf(event, text) ?? []));
  if (key === undefined || merged.some((event) => anchors.has(aliasOf(event, text) ?? ''))) return;
  events.length = start;
  for (const event of merged) events.push(event);
  events.push(key, {
    type: EVENT_ID.MAPPING,
    start: key.type === EVENT_ID.SCALAR ? key.valueStart : 0,
    anchorStart: -1,
    anchorEnd: -1,
    tagStart: -1,
    tagEnd: -1,
    style: COLLECTION_STYLE.FLOW,
  });
  for (const event of pairs) events.push(event);
  events.push({ type: EVENT_ID.POP });
}

/** The anchor that an event has, by name. */
export function anchorOf(event: Event, text: string): string | undefined {
  const isAnchored = 'anchorStart' in event && event.type !== EVENT_ID.ALIAS && event.anchorStart !== -1;
  return isAnchored ? text.slice(event.anchorStart, event.anchorEnd) : undefined;
}

function aliasOf(event: Event, text: string): string | undefined {
  return event.type === EVENT_ID.ALIAS ? text.slice(event.anchorStart, event.anchorEnd) : undefined;
}

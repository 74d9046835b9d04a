/** Finds what a selector selects without looking at everything: ten thousand Services, a hundred thousand Pods. */

export interface Labelled {
  readonly namespace: string;
  readonly template: { readonly labels: ReadonlyMap<string, string> };
}

/** A function that gives what has all labels of the selector, in the order of the list. */
export function indexByLabels<T extends Labelled>(
  items: readonly T[],
): (namespace: string, selector: ReadonlyMap<string, string>) => readonly T[] {
  const byLabel = new Map<string, T[]>();
  const keyOf = (namespace: string, name: string, value: string) => `${namespace}\0${name}\0${value}`;
  for (const item of items) {
    for (const [name, value] of item.template.labels) {
      const key = keyOf(item.namespace, name, value);
      const list = byLabel.get(key);
      if (list === undefined) byLabel.set(key, [item]);
      else list.push(item);
    }
  }
  return (namespace, selector) => {
    let fewest: readonly T[] | undefined;
    for (const [name, value] of selector) {
      const list = byLabel.get(keyOf(namespace, name, value)) ?? [];
      if (fewest === undefined || list.length < fewest.length) fewest = list;
    }
    return (fewest ?? []).filter(({ template }) =>
      [...selector].every(([name, value]) => template.labels.get(name) === value),
    );
  };
}

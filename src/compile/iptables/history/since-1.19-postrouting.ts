import { masqueradeMark } from '../fixed-rules.ts';
import type { LayoutChange } from '../layout.ts';

/**
 * The mark is taken off before masquerading (PR 92035), which later patch releases of 1.18 do as well: the
 * rules of a kind node of 1.18 have the older form.
 */
export const MARK_TAKEN_OFF: LayoutChange = {
  since: 19,
  what: 'KUBE-POSTROUTING takes the mark off what it masquerades; before, one rule masqueraded what had the mark',
  before: ({ postrouting }) => ({
    postrouting: (state) => {
      const mark = masqueradeMark(state);
      return postrouting(state)
        .slice(-1)
        .map((rule) => ({
          ...rule,
          matches: [...rule.matches, { kind: 'mark', negated: false, value: mark, mask: mark }],
        }));
    },
  }),
};

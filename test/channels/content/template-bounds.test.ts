/** No template makes the daemon stand still: what one may do is counted, and what it is given has a size. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Alert } from '../../../src/alert.ts';
import { lineText } from '../../../src/channels/content/content.ts';
import { describeIncident } from '../../../src/channels/content/describe.ts';
import { createPresentation } from '../../../src/channels/content/presentation.ts';
import { createTemplates, templateProblem } from '../../../src/channels/content/template.ts';
import { FILTERS, TAGS } from '../../../src/channels/content/template-engine.ts';
import { atOnce } from '../../../src/chunks.ts';
import { inspectionAlert, notificationAlert } from '../../support/alerts.ts';

/** The text that a template makes, or why it makes none. */
const play = (text: string, alert: Alert = inspectionAlert()) => {
  const failures: string[] = [];
  const source = { kinds: ['slack'] as const, protocols: ['*'], types: ['*'], text };
  const templates = createTemplates([source], { kind: 'slack', onFailed: (_, why) => failures.push(why) });
  const presentation = createPresentation({}, templates);
  const content = atOnce(describeIncident([alert], { presentation, sentAt: Date.now() }));
  return { why: failures.join(), text: content.lines.map(lineText).join('\n') };
};

const RANGE = '{% assign r = (1..5000) %}';
const LONG = '{% assign a = "aaaaaaaaaa" %}{% for i in (1..8) %}{% assign a = a | append: a %}{% endfor %}';

const repeated = (text: string, times: number): string => text.repeat(times);

test.each([
  ['a long range', '{% for i in (1..20001) %}{% endfor %}'],
  ['a long range that nobody reads', '{{ (1..1000000000) | size }}'],
  ['a range whose end is a text', '{{ (1.."1e9") | size }}'],
  ['loops in loops over one list', `${RANGE}{% for a in r %}{% for b in r %}{% endfor %}{% endfor %}x`],
  ['one loop after the other', `${RANGE}${repeated('{% for a in r %}{% endfor %}', 10)}x`],
  [
    'many branches in a loop',
    `${RANGE}{% for a in r %}{% if false %}${repeated('{% elsif false %}', 20)}{% endif %}{% endfor %}x`,
  ],
  [
    'many cases in a loop',
    `${RANGE}{% for a in r %}{% case a %}{% when ${repeated('0, ', 50)}0 %}{% endcase %}{% endfor %}x`,
  ],
  [
    'many arguments in a loop',
    `${RANGE}{% for a in r %}{% assign b = a | default: ${repeated('0, ', 50)}0 %}{% endfor %}x`,
  ],
  [
    'many modifiers in a loop',
    `${RANGE}{% for a in r %}{% for b in a ${repeated('x:1 ', 50)}%}{% endfor %}{% endfor %}x`,
  ],
  [
    'searches of one list, one after the other',
    `${RANGE}{{ r ${repeated(`| has: "'x'", 1 | default: r `, 20)}| size }}`,
  ],
  ['sums of one list', `${RANGE}{{ r ${repeated('| sum | default: 0 | plus: 1 | default: r | concat: r | sum ', 5)}}}`],
  ['a list in a list, again and again', `${RANGE}{{ r | concat: r | concat: r | concat: r | size }}`],
  ['a long path at every entry', `${RANGE}{{ r | map: "${repeated('a.', 500)}" | size }}`],
  ['a list that is compared', `${RANGE}{% if r == r or r == r or r == r or r == r %}x{% endif %}`],
  ['a list in which something is looked for', `${RANGE}{% if ${repeated('r contains 0 or ', 5)}false %}{% endif %}x`],
  ['a list as a case', `${RANGE}{% case r %}{% when ${repeated('r, ', 100)}r %}{% endcase %}x`],
  ['texts in lists', `${LONG}{% assign r = a | split: "" | map: "size" %}{{ r | concat: r | size }}`],
  ['a text that doubles', '{% assign a = "xxxx" %}{% for i in (1..60) %}{% assign a = a | append: a %}{% endfor %}x'],
  ['a text of many replacements', `${LONG}{{ a | replace: "a", a | size }}`],
  ['a text that is captured', `${LONG}{% for i in (1..10) %}{% capture b %}{{ a }}{% endcapture %}{% endfor %}x`],
  [
    'a captured text that doubles',
    '{% assign a = "xxxx" %}{% for i in (1..60) %}{% capture a %}{{ a }}{{ a }}{% endcapture %}{% endfor %}x',
  ],
  ['an escape that grows', `{{ "${repeated('%', 200)}" ${repeated('| url_encode ', 400)}| size }}`],
  ['a text in a loop', `{% for i in (1..1000) %}${repeated('x', 30)}{% endfor %}`],
  ['a raw text in a loop', `{% for i in (1..1000) %}{% raw %}${repeated('x', 30)}{% endraw %}{% endfor %}`],
  ['a list that is written', `${RANGE}${repeated('{{ r }}', 5)}`],
])('%s ends after 20,000 steps, by count', (_, text) => {
  expect(templateProblem(text)).toBeUndefined();
  expect(play(text).why).toMatch(/^it does more than 20,000 steps/);
});

describe('what is there', () => {
  const unbounded = ['find_exp', 'find_index_exp', 'group_by_exp', 'has_exp', 'reject_exp', 'where_exp'];
  test.each([...unbounded, 'group_by', 'push', 'unshift', 'json', 'inspect', 'date', 'sample'])(
    'the filter %s is none: the config is refused with a word of where the list is',
    (name) => {
      expect(templateProblem(`{{ detectors | ${name}: "x", "x" }}`)).toMatch(
        new RegExp(`^undefined filter: ${name}.*docs/templates\\.md lists`),
      );
    },
  );

  test.each(['tablerow x in r', 'cycle 1', 'increment x', 'decrement x', 'include "x"', 'render "x"', 'layout "x"'])(
    'the tag %s is none',
    (tag) => {
      expect(templateProblem(`{% ${tag} %}`)).toMatch(/not found.*docs\/templates\.md lists/);
    },
  );

  test('docs/templates.md lists the filters and the tags', () => {
    const text = readFileSync(join(import.meta.dirname, '../../../docs/templates.md'), 'utf8');
    const namesIn = (row: string): string[] => {
      const [, cells = ''] = new RegExp(`^\\| ${row} \\|(.*)\\|$`, 'm').exec(text) ?? [];
      return [...cells.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
    };
    const filters = ['of texts', 'of lists', 'of numbers'].flatMap((row) => namesIn(`filters ${row}`));
    expect(filters.toSorted()).toEqual([...FILTERS].toSorted());
    expect(namesIn('tags').toSorted()).toEqual([...TAGS].toSorted());
  });
});

const HUGE = 'word word. '.repeat(2200);

describe('a foreign text of 24 kB', () => {
  const findings = inspectionAlert({
    protocol: HUGE,
    item: {
      ...{ assessment: 'critical', txHash: HUGE, txOrigin: HUGE, invokedMethodName: HUGE, chainId: HUGE, _id: HUGE },
      assets: Array.from({ length: 30 }, (_, n) => ({ descriptor: HUGE, address: `${n} ${HUGE}` })),
      detections: Object.fromEntries(
        Array.from({ length: 30 }, (_, n) => [`detector ${n} ${HUGE}`, { status: 'detected', message: HUGE }]),
      ),
    },
  });

  test.each(
    'type service severity word sign prefix protocol contract where title happened headline notice transaction chain origin method id times'.split(
      ' ',
    ),
  )('%s has at most 300 characters', (name) => {
    expect(play(`{{ ${name}.size }}`, findings)).toEqual({ why: '', text: expect.toSatisfy((size) => size <= 300) });
  });

  test('message has at most 3,000, and says that it is cut', () => {
    const stored = notificationAlert(HUGE.replaceAll('. ', '.\n'));
    expect(play('{{ message.size }}', stored)).toEqual({ why: '', text: expect.toSatisfy((size) => size <= 3000) });
    expect(play('{{ message | slice: -30, 30 }}', stored).text).toMatch(/… \[shortened\]$/);
    expect(play('{{ message }}', stored).text).toMatch(/[^\]]… \[shortened\]$/);
  });

  test('lists have at most 20 entries, and all of them can be written', () => {
    const { text, why } = play(
      '{{ detectors.size }} {{ contracts.size }} {{ lines.size }} {% for d in detectors %}{{ d.id.size }} {{ d.name.size }} {{ d.message.size }} {% endfor %}{% for one in contracts %}{{ one.size }} {% endfor %}',
      findings,
    );
    expect(why).toBe('');
    const [detectors, contracts, lines, ...sizes] = text.split(' ').map(Number);
    expect([detectors, contracts, lines]).toEqual([20, 20, expect.toSatisfy((count) => count <= 20)]);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(300);
    const all = '{% for d in detectors %}{{ d.name }}: {{ d.message | upcase | replace: "WORD", "x" }}\n{% endfor %}';
    expect(play(all, findings).why).toBe('');
  });
});

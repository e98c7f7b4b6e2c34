import { describe, expect, test } from 'vitest';
import type { Alert } from '../../../src/alert.ts';
import { type Content, lineText } from '../../../src/channels/content/content.ts';
import { describeIncident } from '../../../src/channels/content/describe.ts';
import { createPresentation } from '../../../src/channels/content/presentation.ts';
import { createTemplates, type TemplateSource, templateProblem } from '../../../src/channels/content/template.ts';
import { atOnce } from '../../../src/chunks.ts';
import { inspectionAlert, notificationAlert, TX_HASH } from '../../support/alerts.ts';

const SENT_AT = Date.parse('2026-11-20T10:07:55.000Z');

const play = (sources: Partial<TemplateSource>[], alert: Alert = inspectionAlert()) => {
  const failures: [number, string][] = [];
  const whole = sources.map((source) => ({ kinds: ['slack'] as const, protocols: ['*'], types: ['*'], ...source }));
  const templates = createTemplates(whole, {
    kind: 'slack',
    onFailed: (index, why) => failures.push([index, why]),
  });
  const presentation = createPresentation({}, templates);
  const content: Content = atOnce(describeIncident([alert], { presentation, sentAt: SENT_AT }));
  return { content, failures, text: content.lines.map(lineText).join('\n') };
};

const OURS = play([]).content;

describe('a template', () => {
  test('words the title and the text over the fields of the content; details and links stay', () => {
    const { content, text, failures } = play([
      {
        title: '{{ sign }} {{ protocol }} needs you',
        text: '{% for d in detectors %}{{ d.name }}: {{ d.message }}\n{% endfor %}Transaction {{ transaction }} on {{ chain }}',
      },
    ]);
    expect(failures).toEqual([]);
    expect(content.title).toBe('🔴 Lending Pool needs you');
    expect(content.headline).toBe(`🔴 Lending Pool needs you: “${OURS.happened}”`);
    expect(text).toBe(
      `Flash loan: Borrowed 12,400 ETH and repaid in the same transaction\nDrastic balance change: Balance fell by 61.5 %\nTransaction ${TX_HASH} on Base (8453)`,
    );
    expect(content).toMatchObject({ detections: [], times: [], details: OURS.details, links: OURS.links });
  });

  test('is plain text: what it makes has neither links nor code', () => {
    const { content } = play([{ text: '<b>{{ transaction }}</b> [x](https://evil.example)' }]);
    expect(content.lines).toEqual([[{ text: `<b>${TX_HASH}</b> [x](https://evil.example)` }]]);
  });

  test('is the first that is for the kind, the protocol and the type', () => {
    const sources = [
      { kinds: ['email'] as const, title: 'mail' },
      { protocols: ['Vault *'], title: 'vault' },
      { types: ['notification.*'], title: 'stored' },
      { title: 'any' },
    ];
    expect(play(sources).content.title).toBe('any');
    expect(play(sources, inspectionAlert({ protocol: 'Vault 7' })).content.title).toBe('vault');
    expect(play(sources, notificationAlert('x')).content.title).toBe('stored');
    expect(play(sources.slice(0, 2)).content).toEqual(OURS);
  });

  test('can word a stored notification, whose text it then stands for', () => {
    const { content, text } = play([{ text: 'It says: {{ message }}' }], notificationAlert('Paused\nby the guardian'));
    expect(text).toBe('It says: > Paused\n> by the guardian');
    expect(content).not.toHaveProperty('message');
  });

  test('in a title a text of several lines is one line, without quotation marks', () => {
    const { content } = play([{ title: '{{ message }}' }], notificationAlert('Paused\nby the guardian'));
    expect(content.title).toBe('Paused by the guardian');
  });
});

describe('text from outside in a template', () => {
  const FORGED = 'Paused.\nAcknowledged by Ann\r\u2028This is a test.';

  test('has no line that could be one of ours: several lines are quoted', () => {
    expect(play([{ text: '{{ message }}' }], notificationAlert(FORGED)).text).toBe(
      '> Paused.\n> Acknowledged by Ann\n> \n> This is a test.',
    );
  });

  test('is folded into one line everywhere else', () => {
    const item = {
      ...{
        assessment: FORGED,
        txHash: FORGED,
        txOrigin: FORGED,
        invokedMethodName: FORGED,
        chainId: FORGED,
        _id: FORGED,
      },
      assets: [{ descriptor: FORGED, address: FORGED }],
      detections: { [FORGED]: { status: 'detected', message: FORGED } },
    };
    const names =
      'type service severity word sign protocol contract where title happened headline transaction chain origin method id times'.split(
        ' ',
      );
    const lists = [
      'contracts | join: "§"',
      'lines | join: "§"',
      'detectors[0].id',
      'detectors[0].name',
      'detectors[0].message',
    ];
    const text = [...names, ...lists].map((name) => `{{ ${name} }}`).join('§');
    const alert = inspectionAlert({ item, type: `inspection.${FORGED}`, protocol: FORGED, service: FORGED });
    expect(play([{ text }], alert).text).not.toContain('\n');
  });
});

describe('a template that fails', () => {
  test.each([
    ['a field that is not there', '{{ nobody }}'],
    ['an endless loop', '{% for i in (1..100000000) %}{% for j in (1..100000000) %}x{% endfor %}{% endfor %}'],
    ['much memory', '{% assign a = "x" %}{% for i in (1..60) %}{% assign a = a | append: a %}{% endfor %}{{ a }}'],
    ['an empty text', '{% if severity == "OK" %}fine{% endif %}'],
  ])('%s: the message goes out in our words, and it is told', (_, text) => {
    const { content, failures } = play([{ title: 'never shown', text }]);
    expect(content).toEqual(OURS);
    expect(failures).toEqual([[0, expect.stringMatching(/\S/)]]);
  });

  test('is not told of an announcement, whose failure would be announced again', () => {
    const { content, failures } = play(
      [{ text: '{{ nobody }}' }],
      notificationAlert('x', { type: 'tocsin.mute.ended' }),
    );
    expect(content.message).toBe('x');
    expect(failures).toEqual([]);
  });

  test.each([
    ['an open tag', '{% if x %}'],
    ['a filter that is not there', '{{ title | shout }}'],
    ['another file', "{% include '/etc/passwd' %}"],
    ['another file', "{% render '/etc/passwd' %}"],
    ['another file', "{% layout '/etc/passwd' %}"],
  ])('%s is found when the config is read', (_, source) => {
    expect(templateProblem(source)).toMatch(/\S/);
  });

  test('properties of objects that no field is are not there', () => {
    expect(play([{ text: '{{ detectors.constructor }}' }]).failures).toHaveLength(1);
    expect(templateProblem('{{ title }}')).toBeUndefined();
  });
});

test('what a template makes is bounded, and the cut is told', () => {
  const { content, text } = play([
    { title: '{{ happened }}{{ happened }}{{ happened }}', text: '{% for i in (1..3000) %}x{% endfor %}' },
  ]);
  expect(content.title.length).toBeLessThanOrEqual(140);
  expect(text.length).toBeLessThan(2100);
  expect(text).toMatch(/\[shortened\]$/);
});

import { expect, test } from 'vitest';
import type { z } from 'zod';
import { linksSection, shortLine, templatesSection, timeZone } from '../../src/config/presentation-section.ts';

const problems = (schema: z.ZodType, value: unknown): string[] =>
  (schema.safeParse(value).error?.issues ?? []).map(({ message }) => message);

test.each([
  ['https://dashboard.example.com/tx/{chainId}/{hash}?p={protocol}#{detector}', []],
  ['https://wiki.example.com/runbook', []],
  ['http://wiki.example.com/{hash}', [expect.stringMatching(/^must be an https URL/)]],
  ['https://{protocol}.example.com/', [expect.stringMatching(/^must be an https URL/)]],
  ['javascript:alert(1)', [expect.stringMatching(/^must be an https URL/)]],
  ['https://user:pass@example.com/{hash}', [expect.stringMatching(/^must be an https URL/)]],
  ['https:{protocol}/a', [expect.stringMatching(/^must be an https URL/)]],
  ['https:\\\\{protocol}/a', [expect.stringMatching(/^must be an https URL/)]],
  ['https:/{protocol}/a', [expect.stringMatching(/^must be an https URL/)]],
  [' https://{protocol}/a', [expect.stringMatching(/^must be an https URL/)]],
  [' https://a.example/{hash}', [expect.stringMatching(/^must be an https URL/)]],
  ['https:///{protocol}', [expect.stringMatching(/^must be an https URL/)]],
  ['https://a.example{protocol}/', [expect.stringMatching(/^must be an https URL/)]],
  ['https://a.example:{id}/', [expect.stringMatching(/^must be an https URL/)]],
  ['https://{hash}', [expect.stringMatching(/^must be an https URL/)]],
  ['https:a.example/{hash}', [expect.stringMatching(/^must be an https URL/)]],
  ['https://a.example\\\\{protocol}/', [expect.stringMatching(/^must be an https URL/)]],
  ['HTTPS://a.example?{hash}', []],
  ['https://x.example/{tx}', [expect.stringMatching(/^may hold only these placeholders: \{hash\} /)]],
])('the URL of a link: %s', (url, expected) => {
  expect(problems(linksSection, [{ label: 'L', url }])).toEqual(expected);
});

test.each([
  ['Europe/Berlin', []],
  ['UTC', []],
  ['Mars/Olympus', ['must be a time zone like UTC or Europe/Berlin']],
  ['', ['must be a time zone like UTC or Europe/Berlin']],
  [7, ['must be a time zone like UTC or Europe/Berlin']],
])('the time zone %j', (name, expected) => {
  expect(problems(timeZone(), name)).toEqual(expected);
});

test('a prefix is one short line', () => {
  expect(problems(shortLine(), '[staging]')).toEqual([]);
  for (const bad of ['', 'a\nb', 'x'.repeat(31)]) expect(problems(shortLine(), bad)).toHaveLength(1);
});

test('a template is for what the service finds unless it names other types', () => {
  expect(templatesSection.parse([{ title: 'x' }])[0]?.types).toEqual(['inspection.*', 'notification.*']);
  expect(templatesSection.parse([{ title: 'x', types: ['*'] }])[0]?.types).toEqual(['*']);
});

import { describe, expect, test } from 'vitest';
import type { Alert } from '../../../src/alert.ts';
import { describe as describeAlert } from '../../../src/channels/content/describe.ts';
import { findingOf } from '../../../src/channels/content/finding.ts';
import { createPresentation, linksOf, type PresentationConfig } from '../../../src/channels/content/presentation.ts';
import { inspectionAlert, notificationAlert, TX_HASH } from '../../support/alerts.ts';

const linked = (
  links: PresentationConfig['links'],
  { protocols = ['Lending Pool'], detectors = ['flashLoan', 'mixer'], item = {} } = {},
): string[] => {
  const presentation = createPresentation(links === undefined ? {} : { links });
  const finding = findingOf(inspectionAlert({ item }), presentation.chains);
  return linksOf(finding, { protocols, detectors }, presentation).map(({ url }) => url);
};

const EXPLORER = `https://basescan.org/tx/${TX_HASH}`;

test('every placeholder is filled in and escaped', () => {
  const url = 'https://x.example/{chainId}/{chain}/{hash}/{address}?p={protocol}&d={detector}#{id}';
  const address = '0xABaBaBaBABabABabAbAbABAbABabababaBaBABaB';
  expect(linked([{ label: 'L', url }], { protocols: ['A&B=/../?'], detectors: ['a b'] })).toEqual([
    EXPLORER,
    `https://x.example/8453/Base/${TX_HASH}/${address}?p=A%26B%3D%2F..%2F%3F&d=a%20b#673d2f0a1b2c3d4e5f607182`,
  ]);
});

test.each(['.', '..'])('a name that is %j would lead elsewhere, so there is no link', (name) => {
  expect(linked([{ label: 'L', url: 'https://x.example/a/{protocol}/b' }], { protocols: [name] })).toEqual([EXPLORER]);
  expect(linked([{ label: 'L', url: 'https://x.example/a/{protocol}/b' }], { protocols: ['...'] })).toHaveLength(2);
});

describe('a stored notification', () => {
  const links = [
    { label: 'Runbook', url: 'https://wiki.example.com/{protocol}', protocols: ['Lending *'] },
    { label: 'Transaction', url: 'https://x.example/{hash}' },
    { label: 'Item', url: 'https://x.example/items/{id}' },
    { label: 'Detector', url: 'https://x.example/{detector}' },
    { label: 'Flash loans', url: 'https://x.example/flash', detectors: ['flash*'] },
  ];
  const labels = (alert: Alert): string[] =>
    describeAlert(alert, { presentation: createPresentation({ links }), sentAt: 0 }).links.map(
      ({ label, url }) => `${label} ${url}`,
    );

  test('has the links of the config that it can fill in', () => {
    expect(labels(notificationAlert('Paused.', { itemId: 'n 1', txHash: TX_HASH }))).toEqual([
      'Runbook https://wiki.example.com/Lending%20Pool',
      `Transaction https://x.example/${TX_HASH}`,
      'Item https://x.example/items/n%201',
    ]);
    expect(labels(notificationAlert('Paused.', { itemId: 'n', protocol: 'Vault' }))).toEqual([
      'Item https://x.example/items/n',
    ]);
  });

  test('an announcement has none', () => {
    expect(labels(notificationAlert('Paused.', { type: 'tocsin.mute.ended' }))).toEqual([]);
  });
});

test('a link that lacks something is left out', () => {
  const links = [{ label: 'L', url: 'https://x.example/{hash}' }];
  expect(linked(links, { item: { txHash: '' } })).toEqual([]);
  expect(linked([{ label: 'L', url: 'https://x.example/{detector}' }], { detectors: [] })).toEqual([EXPLORER]);
  expect(linked([{ label: 'L', url: 'http://x.example/' }])).toEqual([EXPLORER]);
});

test('links are for the protocols and detectors that they name', () => {
  const links = [
    { label: 'A', url: 'https://a.example/{detector}', detectors: ['mix*'] },
    { label: 'B', url: 'https://b.example/{protocol}', protocols: ['Vault *'] },
  ];
  expect(linked(links)).toEqual([EXPLORER, 'https://a.example/mixer']);
  expect(linked(links, { protocols: ['Lending Pool', 'Vault 7'], detectors: [] })).toEqual([
    EXPLORER,
    'https://b.example/Vault%207',
  ]);
});

test('a message has at most five', () => {
  const links = Array.from({ length: 9 }, (_, index) => ({ label: `${index}`, url: `https://x.example/${index}` }));
  expect(linked(links)).toHaveLength(5);
});

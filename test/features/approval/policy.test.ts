import { describe, expect, test } from 'vitest';
import type { ChannelKind, Mute } from '../../../src/alert.ts';
import { createApprovalPolicy, trustedBy } from '../../../src/features/approval/policy.ts';
import { createMuteOf } from '../../../src/features/mutes/active.ts';
import type { RouteSettings } from '../../../src/features/routes/routes.ts';
import { sortDestinations } from '../../../src/features/suppression/filter.ts';
import { destinationOf, inspectionAlert } from '../../support/alerts.ts';

const NONE: ReadonlySet<string> = new Set();

const isAllowed = (entry: string, kind: ChannelKind, address: string): boolean =>
  createApprovalPolicy({ gate: true, allow: [entry], trusted: NONE })(NONE)(destinationOf(kind, address));

describe('allow', () => {
  test.each<[string, ChannelKind, string, boolean]>([
    ['slack:C024*', 'slack', 'C024BE91L', true],
    ['slack:C024*', 'slack', 'c024BE91L', false],
    ['slack:C024*', 'telegram', 'C024BE91L', false],
    ['slack:hooks.slack.com/services/T1/*', 'slack', 'https://hooks.slack.com/services/T1/B/x', true],
    ['slack:hooks.slack.com/services/T1/*', 'slack', 'https://hooks.slack.com/services/T2/B/x', false],
    ['slack:*', 'slack', '#alerts', true],
    ['email:*@example.com', 'email', 'On.Call@Example.com', true],
    ['email:*@example.com', 'email', 'oncall@example.com.evil.example', false],
    ['email:*@example.com', 'email', 'oncall@notexample.com', false],
    ['telegram:-100123*', 'telegram', '-100123456/7', true],
    ['webhook:hooks.example.com/*', 'webhook', 'https://hooks.example.com/a/b?c=d', true],
    ['webhook:HOOKS.example.com', 'webhook', 'https://hooks.example.com/a/b', true],
    ['webhook:hooks.example.com/a', 'webhook', 'https://hooks.example.com/b', false],
    ['webhook:*.example.com/*', 'webhook', 'https://hooks.example.com/a', true],
    ['webhook:*.example.com/*', 'webhook', 'https://evil.test/x.example.com/a', false],
    ['webhook:*.example.com', 'webhook', 'https://evil.test/?.example.com', false],
    ['webhook:hooks.example.com', 'webhook', 'https://hooks.example.com@evil.test/', false],
    ['webhook:hooks.example.com', 'webhook', 'https://hooks.example.com.evil.test/', false],
    ['webhook:hooks.example.com', 'webhook', 'https://hooks.example.com:8443/', false],
    ['webhook:hooks.example.com:8443', 'webhook', 'https://hooks.example.com:8443/', true],
    ['webhook:hooks.example.com', 'webhook', 'http://hooks.example.com/', false],
    ['webhook:http://hooks.example.com/*', 'webhook', 'http://hooks.example.com/x', true],
    ['webhook:http://hooks.example.com/*', 'webhook', 'https://hooks.example.com/x', false],
    // What a server may read as the way out of the path that is allowed.
    ['webhook:hooks.example.com/team/*', 'webhook', 'https://hooks.example.com/team/a%20b/c.d?e=%2f..%2ff', true],
    ['webhook:hooks.example.com/team/*', 'webhook', 'https://hooks.example.com/team/..a/b..', true],
    ['webhook:hooks.example.com/team/*', 'webhook', 'https://hooks.example.com/team/../evil', false],
    ['webhook:hooks.example.com/team/*', 'webhook', 'https://hooks.example.com/team/%2E%2e/evil', false],
    ['webhook:hooks.example.com/team/*', 'webhook', 'https://hooks.example.com/team/..%2fevil', false],
    ['webhook:hooks.example.com/team/*', 'webhook', 'https://hooks.example.com/team/..%2Fevil?x', false],
    ['webhook:hooks.example.com/team/*', 'webhook', 'https://hooks.example.com/team/%2e%2e%5cevil', false],
    [
      'webhook:hooks.example.com/team/*',
      'webhook',
      'https://hooks.example.com/team/x%252f%252e%252e%252f..%25252fevil',
      false,
    ],
    ['webhook:hooks.example.com/team/*', 'webhook', 'https://hooks.example.com/team/..;a=b/evil', false],
    ['webhook:hooks.example.com/team/*', 'webhook', 'https://hooks.example.com/team/..%3b/evil', false],
    ['slack:hooks.slack.com/services/T1/*', 'slack', 'https://hooks.slack.com/services/T1/..%2fT2/B/x', false],
    ['webhook:hooks.example.com', 'webhook', 'https://hooks.example.com/team/..%2fevil', true],
  ])('%s and %s %s: %s', (entry, kind, address, isOpen) => expect(isAllowed(entry, kind, address)).toBe(isOpen));
});

const SLACK = destinationOf('slack', 'C1');
const EMAIL = destinationOf('email', 'a@example.com');

const settings: RouteSettings = {
  triggers: 'ignore',
  overrides: { Vault: { extraChannels: [{ name: 'slack', contacts: ['C1'] }] } },
  configured: new Set(['email', 'slack']),
  addressesOf: (_kind, { contacts = [] }) => ({ addresses: contacts, problems: [] }),
  labelOf: (_kind, address) => address,
};

describe('approval', () => {
  test('is open for everything where it is off', () => {
    expect(createApprovalPolicy({ gate: false, allow: [], trusted: NONE })(NONE)(SLACK)).toBe(true);
  });

  test('is shut for what nobody approved, allowed or wrote into the config', () => {
    const gate = { gate: true, allow: [], trusted: NONE };
    expect(createApprovalPolicy(gate)(NONE)(SLACK)).toBe(false);
    expect(createApprovalPolicy(gate)(new Set([SLACK.id]))(SLACK)).toBe(true);
    expect(createApprovalPolicy(gate)(new Set([SLACK.id]))(EMAIL)).toBe(false);
    const channels = [{ name: 'email', contacts: ['a@example.com'] }];
    for (const named of [{ fallback: { channels }, watchdog: {} }, { watchdog: { channels } }])
      for (const destination of [SLACK, EMAIL])
        expect(createApprovalPolicy({ ...gate, trusted: trustedBy(named, settings) })(NONE)(destination)).toBe(true);
  });

  test('holds what a mute would not keep back anyway', () => {
    const mute: Mute = {
      id: 'mute-1',
      protocols: [],
      detectors: [],
      destinations: [SLACK.id],
      reason: 'r',
      from: '2026-11-20T10:00:00.000Z',
      until: '2026-11-20T12:00:00.000Z',
    };
    const muteOf = createMuteOf([mute], []);
    const isOpen = createApprovalPolicy({ gate: true, allow: [], trusted: NONE })(NONE);
    const alert = inspectionAlert();
    expect(sortDestinations({ alert, destinations: [SLACK, EMAIL] }, muteOf, isOpen)).toEqual({
      open: [],
      muted: [{ destination: SLACK, mute }],
      held: [EMAIL],
    });
    expect(sortDestinations({ alert, destinations: [SLACK, EMAIL] }, muteOf, () => true).open).toEqual([EMAIL]);
  });
});

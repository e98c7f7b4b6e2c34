/** Relays with TLS: what is trusted, what is refused, and what then is not sent. */
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { createCertificate } from '../../support/certificate.ts';
import { type RelayOptions, startSmtpRelay } from '../../support/smtp-relay.ts';
import { closers, failureOf, openEmail, PASS, sendBy, USER } from './relay-client.ts';

const certificate = createCertificate();
const trusted = getCACertificates('default');
const trust = (): void => {
  setDefaultCACertificates([...trusted, certificate.cert]);
  closers.push(() => setDefaultCACertificates(trusted));
};
const startRelay = async (server: RelayOptions['server'] = {}) => {
  const relay = await startSmtpRelay({
    user: USER,
    pass: PASS,
    server: { ...certificate, disabledCommands: [], allowInsecureAuth: false, ...server },
  });
  closers.push(relay.close);
  return relay;
};
const login = { user: USER, pass: PASS };

describe('TLS', () => {
  test('by STARTTLS carries login and mail', async () => {
    trust();
    const relay = await startRelay();
    await sendBy(openEmail({ host: 'localhost', port: relay.port, ...login }));
    expect(relay.accepted).toHaveLength(1);
    expect(relay.secured()).toBe(1);
  });

  test('from the first byte carries login and mail', async () => {
    trust();
    const relay = await startRelay({ secure: true });
    await sendBy(openEmail({ port: relay.port, secure: true, ...login }));
    expect(relay.accepted).toHaveLength(1);
    expect(relay.secured()).toBe(1);
  });

  test.each([
    ['STARTTLS', {}],
    ['TLS from the start', { secure: true }],
  ])('with a certificate nobody knows sends nothing, by %s', async (_how, options) => {
    const relay = await startRelay(options);
    const error = await failureOf(sendBy(openEmail({ port: relay.port, ...options, ...login })));
    expect(error).toMatchObject({ reason: 'unavailable', code: 'DEPTH_ZERO_SELF_SIGNED_CERT', maybeDelivered: false });
    expect(relay.arrived).toHaveLength(0);
  });

  test('required but not offered keeps the password back', async () => {
    const relay = await startRelay({ disabledCommands: ['STARTTLS'], allowInsecureAuth: true });
    const error = await failureOf(sendBy(openEmail({ port: relay.port, ...login })));
    expect(error.reason).toBe('sender-misconfigured');
    expect(relay.logins()).toBe(0);
    expect(relay.arrived).toHaveLength(0);
  });

  test('spoken to a relay that does not is a passing fault with a name', async () => {
    const relay = await startRelay({ disabledCommands: ['STARTTLS'] });
    const error = await failureOf(sendBy(openEmail({ port: relay.port, secure: true, ...login })));
    expect(error).toMatchObject({ reason: 'unavailable', maybeDelivered: false });
    expect(error.message).toContain('TLS');
  });
});

describe('a relay with a certificate of its own', () => {
  const own = createCertificate();
  const authority = { ...createCertificate({ name: 'Our CA' }), name: 'Our CA' };
  const issued = createCertificate({ issuer: authority });
  const misnamed = createCertificate({ name: 'relay.internal' });
  const issuedMisnamed = createCertificate({ name: 'relay.internal', issuer: authority });
  const expired = createCertificate({ end: Date.now() - 1000 });

  test.each([
    ['its own, self-signed', own, own.cert],
    ['its own, beside others', own, authority.cert + own.cert],
    ['its own, for another name', misnamed, misnamed.cert],
    ['its own, without its issuer', issued, issued.cert],
    ['its own, without its issuer and for another name', issuedMisnamed, issuedMisnamed.cert],
    ["its issuer's", issued, authority.cert],
  ])('is trusted by smtp.ca: %s', async (_which, { key, cert }, ca) => {
    for (const options of [{}, { secure: true }]) {
      const relay = await startRelay({ key, cert, ...options });
      await sendBy(openEmail({ port: relay.port, tls: 'verify', ca, ...options, ...login }));
      expect([relay.accepted.length, relay.secured(), relay.logins()]).toEqual([1, 1, 1]);
    }
  });

  test.each([
    ['no ca', own, undefined, 'DEPTH_ZERO_SELF_SIGNED_CERT', 'channels.email.smtp.ca'],
    ['a ca without it', own, authority.cert, 'DEPTH_ZERO_SELF_SIGNED_CERT', 'channels.email.smtp.ca'],
    ['the one it had before', own, createCertificate().cert, 'DEPTH_ZERO_SELF_SIGNED_CERT', 'channels.email.smtp.ca'],
    ['no issuer', issued, undefined, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'channels.email.smtp.ca'],
    ['another name', issuedMisnamed, authority.cert, 'ERR_TLS_CERT_ALTNAME_INVALID', 'channels.email.smtp.host'],
    ['another name', issuedMisnamed, authority.cert, 'ERR_TLS_CERT_ALTNAME_INVALID', 'namely DNS:relay.internal: '],
    ['an end in the past', expired, expired.cert, 'CERT_HAS_EXPIRED', 'renew it'],
  ])('is refused with %s, by name of the key that mends it', async (_what, { key, cert }, ca, code, says) => {
    for (const options of [{}, { secure: true }]) {
      const relay = await startRelay({ key, cert, ...options });
      const channel = openEmail({ port: relay.port, ...(ca === undefined ? {} : { ca }), ...options, ...login });
      for (const attempt of [() => sendBy(channel), () => channel.verify(new AbortController().signal)]) {
        const error = await failureOf(attempt());
        expect(error).toMatchObject({ reason: 'unavailable', code, maybeDelivered: false });
        expect(error.message).toContain(says);
      }
      expect([relay.arrived.length, relay.logins()]).toEqual([0, 0]);
    }
  });

  test('gets our certificate where it asks for one', async () => {
    const ours = createCertificate({ name: 'tocsin' });
    const asking = { ca: ours.cert, requestCert: true, rejectUnauthorized: true };
    for (const options of [{}, { secure: true }]) {
      const relay = await startRelay({ ...own, ...asking, ...options });
      const smtp = { port: relay.port, ca: own.cert, ...options, ...login };
      const error = await failureOf(sendBy(openEmail(smtp)));
      expect(error).toMatchObject({ reason: 'unavailable', maybeDelivered: false });
      await sendBy(openEmail({ ...smtp, ...ours }));
      expect([relay.accepted.length, relay.secured()]).toEqual([1, 1]);
    }
  });

  test('does not make the well-known authorities unknown', async () => {
    trust();
    const relay = await startRelay();
    await sendBy(openEmail({ host: 'localhost', port: relay.port, ca: authority.cert, ...login }));
    expect(relay.secured()).toBe(1);
  });
});

describe('smtp.tls', () => {
  const startOpenRelay = async (server: RelayOptions['server']) => {
    const relay = await startSmtpRelay({ server: { ...createCertificate(), ...server } });
    closers.push(relay.close);
    return relay;
  };
  const WITH_STARTTLS = ['AUTH'];
  const WITHOUT = ['AUTH', 'STARTTLS'];

  test.each([
    ['opportunistic', 'uses STARTTLS with any certificate', WITH_STARTTLS, 1],
    ['opportunistic', 'goes on without STARTTLS', WITHOUT, 0],
    ['off', 'does not use STARTTLS', WITH_STARTTLS, 0],
    ['off', 'needs no STARTTLS', WITHOUT, 0],
  ])('%s %s', async (tls, _does, disabledCommands, secured) => {
    const relay = await startOpenRelay({ disabledCommands });
    await sendBy(openEmail({ port: relay.port, tls }));
    expect([relay.accepted.length, relay.secured()]).toEqual([1, secured]);
  });

  test('opportunistic takes any certificate from the first byte, too', async () => {
    const relay = await startOpenRelay({ disabledCommands: WITHOUT, secure: true });
    await sendBy(openEmail({ port: relay.port, tls: 'opportunistic', secure: true }));
    expect(relay.secured()).toBe(1);
  });

  test('opportunistic logs in at a relay of this machine', async () => {
    const relay = await startRelay();
    await sendBy(openEmail({ port: relay.port, tls: 'opportunistic', ...login }));
    expect([relay.secured(), relay.logins()]).toEqual([1, 1]);
  });

  test('verify sends nothing to a relay that somebody has stripped of STARTTLS, and names the key', async () => {
    const relay = await startOpenRelay({ disabledCommands: WITHOUT });
    const error = await failureOf(sendBy(openEmail({ port: relay.port, tls: 'verify' })));
    expect(error.reason).toBe('sender-misconfigured');
    expect(error.message).toContain('if the relay is known to have no TLS, channels.email.smtp.tls: off');
    expect(relay.arrived).toHaveLength(0);
  });

  test('left out beside requireTLS: false means what it did: verified if offered, else without', async () => {
    const [withTls, without] = [
      await startOpenRelay({ disabledCommands: WITH_STARTTLS }),
      await startOpenRelay({ disabledCommands: WITHOUT }),
    ];
    await failureOf(sendBy(openEmail({ port: withTls.port, requireTLS: false })));
    await sendBy(openEmail({ port: without.port, requireTLS: false }));
    expect([withTls.arrived.length, without.accepted.length]).toEqual([0, 1]);
  });
});

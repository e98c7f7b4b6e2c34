import { describe, expect, test } from 'vitest';
import { smtpFailure } from '../../../src/channels/email/verdicts.ts';
import type { DeliveryReason } from '../../../src/errors.ts';

describe('verdicts', () => {
  const judge = (error: object, sent = false) =>
    smtpFailure(error, { peer: 'smtp.example.com:587', sent, scrub: (text) => text });

  test.each<[DeliveryReason, string, string]>([
    ['unavailable', 'RCPT TO', '450 4.2.0 greylisted'],
    ['unavailable', 'RCPT TO', '452 4.2.2 The email account that you tried to reach is over quota exceeded'],
    ['unavailable', 'RCPT TO', '452 4.5.3 Try later'],
    ['unavailable', 'AUTH PLAIN', '454 4.7.0 Temporary authentication failure'],
    ['unavailable', 'STARTTLS', '454 4.7.0 TLS not available'],
    ['unavailable', 'DATA', '503 5.5.1 Bad sequence'],
    ['rate-limited', 'CONN', '421 4.7.28 Our system has detected an unusual rate of unsolicited mail'],
    ['rate-limited', 'RCPT TO', '450 4.2.1 receiving mail at a rate that prevents delivery'],
    ['rate-limited', 'DATA', '454 Throttling failure: Daily message quota exceeded.'],
    ['rate-limited', 'CONN', '421 Too many concurrent connections'],
    ['destination-dead', 'RCPT TO', '550 5.2.1 Account disabled'],
    ['destination-dead', 'RCPT TO', '551 User not local'],
    ['destination-dead', 'RCPT TO', '553 5.1.3 Invalid address'],
    ['destination-dead', 'RCPT TO', '501 5.1.3 Bad recipient address syntax'],
    ['destination-dead', 'RCPT TO', '552 5.2.2 Mailbox full'],
    ['destination-dead', 'RCPT TO', '550 5.4.1 Recipient address rejected: Access denied'],
    ['destination-dead', 'RCPT TO', '521 5.3.2 Host does not accept mail'],
    ['destination-dead', 'RCPT TO', '550 5.7.1 Not allowed to write to this list'],
    ['destination-dead', 'DATA', '550 5.1.1 No such user'],
    ['bad-message', 'DATA', '552 5.3.4 Message too big'],
    ['bad-message', 'MAIL FROM', '552 5.2.3 Message exceeds the limit'],
    ['bad-message', 'DATA', '554 5.6.1 Media not supported'],
    ['bad-message', 'DATA', '554 5.7.1 Spam message rejected'],
    ['bad-message', 'DATA', '550 Content refused'],
    ['sender-misconfigured', 'AUTH LOGIN', '535 5.7.8 Username and Password not accepted'],
    ['sender-misconfigured', 'MAIL FROM', '530 5.7.0 Must issue a STARTTLS command first'],
    ['sender-misconfigured', 'MAIL FROM', '550 5.7.60 Client does not have permissions to send as this sender'],
    ['sender-misconfigured', 'RCPT TO', '554 5.7.1 Relay access denied'],
    ['sender-misconfigured', 'RCPT TO', '554 5.7.1 Client host [192.0.2.1] blocked using a list'],
    ['sender-misconfigured', 'RCPT TO', '553 5.1.8 Sender address rejected: Domain not found'],
    ['sender-misconfigured', 'DATA', '550 5.7.26 This mail is unauthenticated'],
    ['sender-misconfigured', 'DATA', '554 Message rejected: Email address is not verified.'],
    ['sender-misconfigured', 'RCPT TO', '500 Command unrecognised'],
    ['unknown', 'RCPT TO', '571 Delivery not authorised'],
    ['unknown', 'DATA', '599 Something new'],
  ])('%s: %s, %s', (reason, command, response) => {
    const error = judge({ code: 'EENVELOPE', command, response }, true);
    expect(error).toMatchObject({ reason, maybeDelivered: false });
    const said = `smtp.example.com:587 refused ${command}: ${response}`;
    expect(error.said ?? error.message).toBe(said);
    expect(error.explanation !== undefined).toBe(reason === 'destination-dead' || reason === 'sender-misconfigured');
    expect(error.message.endsWith(error.explanation ? ` (${said})` : said)).toBe(true);
    expect(error.cause).toBeUndefined();
  });

  test.each<[DeliveryReason, string, object]>([
    ['sender-misconfigured', 'EAUTH', {}],
    ['sender-misconfigured', 'ETLS', { command: 'STARTTLS' }],
    ['unavailable', 'ETLS', { command: 'CONN' }],
    ['sender-misconfigured', 'ECONFIG', {}],
    ['destination-dead', 'EENVELOPE', { command: 'API' }],
    ['bad-message', 'EMESSAGE', { command: 'MAIL FROM' }],
    ['unavailable', 'ECONNECTION', {}],
    ['unavailable', 'ETIMEDOUT', {}],
    ['unavailable', 'ESOCKET', { originalCode: 'ECONNREFUSED' }],
    ['unavailable', 'EDNS', { originalCode: 'ENOTFOUND' }],
    ['unavailable', 'ESOCKET', {}],
    ['unavailable', 'ESOCKET', { originalCode: 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION' }],
    ['unknown', 'ENEW', {}],
  ])('%s: %s %j without a reply', (reason, code, details) => {
    expect(judge({ code, ...details })).toMatchObject({ reason, maybeDelivered: false });
  });

  test('what was sent and not answered may have arrived', () => {
    expect(judge({ code: 'ECONNECTION' }, true).maybeDelivered).toBe(true);
    expect(judge({ code: 'ESOCKET', originalCode: 'ECONNRESET' }, true).maybeDelivered).toBe(true);
  });

  test('the words of a reply are one short line', () => {
    const {
      said = '',
      message,
      code,
    } = judge({
      response: `550-5.1.1 a\r\n550 5.1.1 b\u202e${'x'.repeat(5000)}`,
      command: 'RCPT TO',
    });
    expect(said).toMatch(/^smtp\.example\.com:587 refused RCPT TO: 550 5\.1\.1 a 550 5\.1\.1 bx+…$/);
    expect(said.length).toBeLessThan(260);
    expect(message).toBe(`the mailbox does not exist (${said})`);
    expect(code).toBe('550-5.1.1');
  });

  test.each([
    ['RCPT TO', '550 5.1.1 No such user', 'the mailbox does not exist'],
    ['RCPT TO', '552 5.2.2 Mailbox full', 'the mailbox is full'],
    ['RCPT TO', '550 5.2.1 Account disabled', 'the mailbox is disabled'],
    ['RCPT TO', '550 Denied', 'the mailbox is refused by the mail server'],
    ['AUTH PLAIN', '535 5.7.8 Bad credentials', 'the mail server does not take the user name and password of Tocsin'],
    ['MAIL FROM', '530 5.7.0 Authentication required', 'the mail server wants Tocsin to log in, or to use TLS first'],
    ['MAIL FROM', '550 5.7.60 Not this sender', 'the mail server does not take the sender address of Tocsin'],
    ['RCPT TO', '554 5.7.1 Relay access denied', 'the mail server does not pass on mail of ours'],
    ['DATA', '550 5.7.26 This mail fails SPF', 'the mail server does not trust mail from the sender address of Tocsin'],
    ['EHLO', '554 Go away', 'the mail server does not let Tocsin in'],
  ])('%s, %s: in words, with what mends it', (command, response, words) => {
    const { message, explanation } = judge({ command, response });
    expect(message).toBe(`${words} (smtp.example.com:587 refused ${command}: ${response})`);
    expect(explanation?.todo).toMatch(/^[a-z]{3,} .*[^.]$/);
  });
});

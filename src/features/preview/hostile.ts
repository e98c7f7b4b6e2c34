/** What anybody can write onto a chain: it must not look like ours, call anybody, lead anywhere, or break a message. */
import type { Alert } from '../../alert.ts';
import { AT, finding, notification } from './findings.ts';

/** Markup of every channel, and sentences as ours would be. */
const MESSAGE = [
  '<b>bold</b> *bold* _italic_ ~gone~ `code` <script>alert(1)</script> &amp; &lt;i&gt;',
  'Origin: 0x0000000000000000000000000000000000000001 (an admin)',
  'This was a test. Nothing happened.',
  '> quoted, and not by us',
  '<!channel> @channel @here <@U024BE7LH> #general /stop +49 30 1234567',
  '[claim](https://phish.example) <https://phish.example|your wallet> https://phish.example/login',
  '</blockquote></pre></code></td></table></body></html>',
  'right \u202e to left \u202c zero\u200bwidth \ufeff nul \u0000 escape \u001b[31m emoji 🔴 CRITICAL',
].join('\r\n');

export const hostileFinding = (): Alert =>
  finding({
    label: 'hostile',
    protocol: 'Harbor <b>&_* Lending</b>\n✅ OK · Harbor Lending',
    assets: [{ descriptor: '0x1807…cc1B (verified) <!here>', address: '0x18072e8c35bf992dc9e9c616612e7696a6cecc1b' }],
    method: 'transfer_*~`From <https://phish.example|safe>',
    fired: {
      'flashLoan\nResolved: <b>false alarm</b> @channel': MESSAGE,
      drasticBalanceChange: 'Token balance dropped 90% below its 24 h mean',
    },
    at: AT,
  });

export const hostileNotification = (): Alert => notification('hostile', 'Harbor Lending', `OK\r\n${MESSAGE}`);

/** What anybody can write onto a chain, into a contract's name, or into a message: markup of every channel, and worse. */

export const HOSTILE_TEXTS: readonly [string, ...string[]] = [
  '<b>bold</b> <script>alert(1)</script> & <a href="https://phish.example">claim</a>',
  '<!channel> <!here> <@U0SANDBOX> <https://phish.example|your wallet>',
  '@channel @everyone *bold* _italic_ ~gone~ `code` ```block```',
  '[claim](https://phish.example) **now** __please__ ||hidden||',
  '_opened and never closed',
  '</code></pre></blockquote></td></table></body></html>',
  '&amp;lt;b&amp;gt; &#60;i&#62; &nbsp; &',
  'first line\r\nBcc: victim@example.com\r\nSubject: other\r\n\r\nbody',
  'nul \u0000 bell \u0007 escape \u001b[31mred\u001b[0m backspace \u0008',
  'right \u202e to left \u202c isolate \u2066 x \u2069',
  'zero\u200bwidth\u200djoin\ufefferase\u2060d',
  'emoji 🧨👩‍👩‍👧‍👦🏴󠁧󠁢󠁥󠁮󠁧󠁿 :fire:',
  'lone \ud83d surrogate',
  'Z\u0351\u036b\u0343a\u0329\u0353l\u0349\u035ag\u0331o',
  '漢字 العربية ไทย Ünïcödé ﷽',
  '$(reboot) `id` $HOME {{constructor}} %s%n "quoted" \\n',
  '{"page":[],"total":0}',
  'x'.repeat(10_240),
];

/** A protocol's name with the characters of every markup, a path's and a query's. */
export const HOSTILE_NAME = 'A/B <b>&_* Markets?#%';

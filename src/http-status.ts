/** What an HTTP status says of who sent it, for people who do not know it by heart. */

/** Source: RFC 9110, and for 520 to 530 Cloudflare's documentation of its 5xx errors. */
const MEANINGS: Readonly<Record<number, string>> = {
  500: 'it has a fault of its own',
  502: 'the server behind it gave no usable answer',
  503: 'it is overloaded or down for a while',
  504: 'the server behind it took too long',
  507: 'it has no room left',
  520: 'the server behind it gave no usable answer',
  521: 'the server behind it is down',
  522: 'the server behind it took too long to connect',
  523: 'the server behind it cannot be reached',
  524: 'the server behind it took too long',
  525: 'the server behind it does not speak TLS as expected',
  526: 'the server behind it has no certificate that is trusted',
};

/** `503 (it is overloaded or down for a while)`; a status without such words stands alone. */
export const statusText = (status: number): string => {
  const meaning = MEANINGS[status];
  return meaning === undefined ? String(status) : `${status} (${meaning})`;
};

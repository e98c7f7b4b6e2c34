/** Whether a request was made by a page of ours. Pure. */
import type { IncomingHttpHeaders } from 'node:http';

/** Another page's script or frame asked for it. Old browsers and programs do not say. */
export const isFromElsewhere = ({ 'sec-fetch-site': site }: IncomingHttpHeaders): boolean =>
  site !== undefined && site !== 'same-origin' && site !== 'none';

/**
 * A form was sent by a page of ours: every browser names the origin. `publicUrl`: where people reach the server through
 * a proxy, which may ask for another host.
 */
export const isOwnForm = (headers: IncomingHttpHeaders, publicUrl: string | undefined): boolean => {
  const { origin, host, 'sec-fetch-site': site } = headers;
  if (origin === undefined || (site !== undefined && site !== 'same-origin')) return false;
  const from = URL.parse(origin)?.host;
  if (from === undefined || from === '') return false;
  return from === host?.toLowerCase() || (publicUrl !== undefined && origin === URL.parse(publicUrl)?.origin);
};

/** How hosts and networks are written. Pure; it loads no library. */
import { isIP } from 'node:net';

/** `EXAMPLE.com.` and `example.com` are one host; brackets belong to the URL, not to the address. */
export const hostKey = (host: string): string =>
  host
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
    .toLowerCase();

/** Whether a text is a network in CIDR notation. */
export const isCidr = (text: string): boolean => {
  const [address = '', bits = '', ...rest] = text.split('/');
  const family = isIP(address);
  return rest.length === 0 && family !== 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128);
};

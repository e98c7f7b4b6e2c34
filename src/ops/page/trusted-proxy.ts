/**
 * Who is signed in at a proxy in front of us. Its header counts only on a connection from a network that the config names:
 * everybody else could write it, too. The proxy has to remove it from what it is sent.
 */
import type { IncomingMessage } from 'node:http';
import { contains, networkOf, parseAddress } from '../../networks.ts';

export interface TrustedProxy {
  /** Where it connects from: CIDRs and addresses. */
  networks: readonly string[];
  /** The header with the name of who is signed in. */
  header: string;
}

const LONGEST_NAME = 200;

/** Gives the name, undefined where nobody is signed in there. Two headers may be one that somebody else has added: none counts. */
export const createUserOf = ({ networks, header }: TrustedProxy) => {
  const trusted = networks.map(networkOf).filter((network) => network !== undefined);
  const name = header.toLowerCase();
  return ({ socket, headersDistinct }: IncomingMessage): string | undefined => {
    const from = parseAddress(socket.remoteAddress ?? '');
    if (from === undefined || !trusted.some((network) => contains(network, from))) return undefined;
    const [user = '', ...others] = headersDistinct[name] ?? [];
    const isName = user.trim() !== '' && user.length <= LONGEST_NAME && others.length === 0;
    return isName ? user.trim() : undefined;
  };
};

/**
 * Which `Host` a request may name. A web page whose name was made to resolve to our address (DNS rebinding) may read our
 * answers in its visitor's browser; the browser then names that page's host.
 */
import { isIP, isIPv6 } from 'node:net';

export interface HostCheckSettings {
  /** What is listened on; none is every interface. */
  host?: string;
  /** Where people reach this daemon through a proxy. */
  publicUrl?: string;
  /** This machine's name. */
  ownHost: string;
}

/** No public name ends so: nobody can register one and point it here. Kubernetes' names are among them. */
const PRIVATE_SUFFIX = /\.(?:svc|local|internal|home\.arpa)$/;
const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|::1)$/;

/** Lower case, without port, brackets and the dot of the root; undefined where it is no host. */
const nameOf = (header: string): string | undefined => {
  const [, bracketed, plain] = /^(?:\[([^\]]+)\]|([\w.-]+))(?::\d*)?$/.exec(header) ?? [];
  if (bracketed !== undefined) return isIPv6(bracketed) ? bracketed : undefined;
  return plain?.toLowerCase().replace(/\.$/, '');
};

/**
 * An address is always right, as no browser takes one from a foreign name: probes of containers and Kubernetes name the
 * pod's. Beyond loopback others on the network ask, by names that only their network knows.
 */
export const createHostCheck = ({ host, publicUrl, ownHost }: HostCheckSettings) => {
  const named = [host, publicUrl === undefined ? undefined : URL.parse(publicUrl)?.hostname];
  const isOpen = host === undefined || !LOOPBACK.test(host);
  const known = new Set([...named, ...(isOpen ? [ownHost] : [])].map((name) => name?.toLowerCase()));
  const isLocal = (name: string): boolean => !name.includes('.') || PRIVATE_SUFFIX.test(name);

  /** A request without a host comes from a simple probe: every browser sends one. */
  return (header: string | undefined): boolean => {
    if (!header) return true;
    const name = nameOf(header);
    if (name === undefined) return false;
    const isLoopbackName = name === 'localhost' || name.endsWith('.localhost');
    return isIP(name) > 0 || isLoopbackName || known.has(name) || (isOpen && isLocal(name));
  };
};

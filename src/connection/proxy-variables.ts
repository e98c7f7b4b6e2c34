/**
 * HTTPS_PROXY, HTTP_PROXY and NO_PROXY, in small letters too, for what has no `proxy` in the config. Small letters win, as
 * in curl. Nothing on this machine is reached through them.
 */
import { BlockList, isIP } from 'node:net';
import { hostKey, isCidr } from '../net.ts';
import { isProxyUrl } from '../schema/connection.ts';
import { createSecret, type Secret } from '../secret.ts';

interface ChosenProxy {
  url: Secret;
  /** Where it is written: a key of the config, or a variable. */
  key: string;
}

/** What the variables say; `except`: the entries of NO_PROXY. */
export interface ProxyVariables {
  https?: ChosenProxy;
  http?: ChosenProxy;
  except: readonly string[];
}

export type ProxyFor = (url: string) => ChosenProxy | undefined;

type Environment = Readonly<Record<string, string | undefined>>;

/** `proxy.example.com:3128` is a proxy of plain http; undefined for what is no http or https proxy. */
const proxyUrlIn = (text: string): string | undefined => {
  const url = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  return isProxyUrl(url) ? url : undefined;
};

/** `host:port`, without user and password. */
export const proxyHost = (proxy: Secret): string => URL.parse(proxy.reveal())?.host ?? 'of the config';

const namedIn = (environment: Environment, name: string): { key: string; text: string } | undefined => {
  const key = [name.toLowerCase(), name].find((each) => (environment[each] ?? '').trim() !== '');
  return key === undefined ? undefined : { key, text: (environment[key] ?? '').trim() };
};

/** Calls `onProblem` for a variable that names no proxy we can use. Undefined where none is set. */
export const readProxyVariables = (
  environment: Environment,
  onProblem: (variable: string) => void,
): ProxyVariables | undefined => {
  const read = (name: string): ChosenProxy | undefined => {
    const named = namedIn(environment, name);
    const url = named && proxyUrlIn(named.text);
    if (named !== undefined && url === undefined) onProblem(named.key);
    return named && url !== undefined ? { url: createSecret(url), key: named.key } : undefined;
  };
  const [https, http] = [read('HTTPS_PROXY'), read('HTTP_PROXY')];
  if (https === undefined && http === undefined) return undefined;
  const except = (namedIn(environment, 'NO_PROXY')?.text ?? '').split(/[\s,]+/).filter((entry) => entry !== '');
  return { ...(https && { https }), ...(http && { http }), except };
};

const family = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

const isLoopback = (host: string): boolean => /^(localhost|127\.\d+\.\d+\.\d+|::1)$|\.localhost$/.test(host);

/** Whether an entry of NO_PROXY means this host: `*`, a name and all below it, an address, a network, each with a port. */
const isMeant = (entry: string, host: string, port: string): boolean => {
  if (entry === '*') return true;
  if (isCidr(entry)) {
    if (isIP(host) === 0) return false;
    const [network = '', bits] = entry.split('/');
    const list = new BlockList();
    list.addSubnet(network, Number(bits), family(network));
    return list.check(host, family(host));
  }
  const [, named = entry, onPort] = isIP(entry) === 6 ? [] : (/^(.+?)(?::(\d+))?$/.exec(entry) ?? []);
  if (onPort !== undefined && onPort !== port) return false;
  const name = hostKey(named.replace(/^\*?\./, ''));
  return host === name || (isIP(host) === 0 && host.endsWith(`.${name}`));
};

/** Which proxy a URL is reached through by the variables. */
export const createProxyFor = (variables: ProxyVariables | undefined): ProxyFor => {
  if (variables === undefined) return () => undefined;
  return (text) => {
    const url = URL.parse(text);
    const chosen = url === null ? undefined : url.protocol === 'https:' ? variables.https : variables.http;
    if (url === null || chosen === undefined) return undefined;
    const host = hostKey(url.hostname);
    const port = url.port || (url.protocol === 'https:' ? '443' : '80');
    return isLoopback(host) || variables.except.some((entry) => isMeant(entry, host, port)) ? undefined : chosen;
  };
};

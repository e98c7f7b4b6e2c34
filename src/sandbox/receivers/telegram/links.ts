/** Addresses as Telegram takes them. Source: `check_link_impl` in `LinkManager.cpp` of https://github.com/tdlib/td */

const SCHEME = /^(?:tg|ton|tonsite):/i;

/** Telegram's complaint; undefined for an address that it opens. A host without a dot is none. */
export const checkLink = (url: string): string | undefined => {
  if (SCHEME.test(url)) return undefined;
  const parsed = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(url) ? url : `http://${url}`);
  if (!parsed || !['http:', 'https:'].includes(parsed.protocol)) return 'Unsupported URL protocol';
  return parsed.hostname.includes('.') || parsed.hostname.startsWith('[') ? undefined : 'Wrong HTTP URL';
};

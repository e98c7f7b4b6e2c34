/**
 * Mail addresses, strictly. Mail libraries read an address field as a list with names, groups and comments: a text like
 * `ok@a.example, Bcc: other@b.example` would reach people nobody meant. Here one text is one address or none.
 */
import { domainToASCII } from 'node:url';

/** RFC 5321, section 4.5.3.1. */
const LOCAL_PART_MAX = 64;
const DOMAIN_MAX = 253;

/** RFC 5322 dot-atom; no quoted form, no comment. */
const LOCAL_PART = /^[\w!#$%&'*+/=?^`{|}~-]+(\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;
const DOMAIN = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/i;

export interface Mailbox {
  /** The name that mail programs show; may be empty. */
  name: string;
  address: string;
}

/**
 * One plain address, or undefined: ASCII only (international domains in their `xn--` form), no name, no quotes, no
 * list, no address literal. The domain is returned in lower case, so that one mailbox has one spelling.
 */
export const parseAddress = (text: string): string | undefined => {
  const at = text.lastIndexOf('@');
  const local = text.slice(0, Math.max(0, at));
  const domain = text.slice(at + 1).toLowerCase();
  const valid =
    local.length <= LOCAL_PART_MAX &&
    LOCAL_PART.test(local) &&
    domain.length <= DOMAIN_MAX &&
    DOMAIN.test(domain) &&
    !/(^|\.)\d+$/.test(domain) &&
    domainToASCII(domain) === domain;
  return valid ? `${local}@${domain}` : undefined;
};

/** `Name <address>`, `"Name" <address>` or a bare address; undefined for anything else. */
export const parseMailbox = (text: string): Mailbox | undefined => {
  const [, quoted, plain, inner] = /^(?:"([^"\\<>\p{Cc}]*)"|([^"\\<>\p{Cc}]*))\s*<([^<>]*)>$/u.exec(text) ?? [];
  const address = parseAddress(inner ?? text);
  return address === undefined ? undefined : { name: (quoted ?? plain ?? '').trim(), address };
};

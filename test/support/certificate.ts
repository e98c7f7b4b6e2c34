/** Certificates, made for each use: no key lies in the repository, and none expires. */
import { createPrivateKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';

/** DER: one element, its length in the short or the long form. */
const der = (tag: number, ...content: Buffer[]): Buffer => {
  const body = Buffer.concat(content);
  const bytes =
    body.length.toString(16).length > 2 ? [0x82, body.length >> 8, body.length & 0xff] : [0x81, body.length];
  return Buffer.concat([Buffer.from([tag, ...(body.length < 0x80 ? [body.length] : bytes)]), body]);
};

const sequence = (...content: Buffer[]): Buffer => der(0x30, ...content);
const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));
const bits = (content: Buffer): Buffer => der(0x03, Buffer.from([0]), content);
const utcTime = (time: number): Buffer =>
  der(0x17, Buffer.from(`${new Date(time).toISOString().slice(2, 19).replace(/[-T:]/g, '')}Z`));

const COMMON_NAME = oid('550403');
const ECDSA_WITH_SHA256 = sequence(oid('2a8648ce3d040302'));
const SUBJECT_ALT_NAME = oid('551d11');
const BASIC_CONSTRAINTS = oid('551d13');
const DAY_MS = 86_400_000;

const nameOf = (name: string): Buffer => sequence(der(0x31, sequence(COMMON_NAME, der(0x0c, Buffer.from(name)))));

interface Unsigned {
  publicKey: KeyObject;
  name: string;
  /** The name of who signs it. */
  by: string;
  /** When it ends. */
  end: number;
}

const unsigned = ({ publicKey, name, by, end }: Unsigned): Buffer => {
  const addresses = name === 'localhost' ? [der(0x87, Buffer.from([127, 0, 0, 1]))] : [];
  const altName = sequence(der(0x82, Buffer.from(name)), ...addresses);
  const isAuthority = by === name;
  return sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ECDSA_WITH_SHA256,
    nameOf(by),
    sequence(utcTime(end - 2 * DAY_MS), utcTime(end)),
    nameOf(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(
      0xa3,
      sequence(
        sequence(SUBJECT_ALT_NAME, der(0x04, altName)),
        sequence(BASIC_CONSTRAINTS, der(0x04, sequence(...(isAuthority ? [der(0x01, Buffer.from([0xff]))] : [])))),
      ),
    ),
  );
};

export interface Certificate {
  key: string;
  cert: string;
}

interface CertificateOptions {
  /** The one name that it is for. `localhost` is also for 127.0.0.1. */
  name?: string;
  /** Who signs it, by name and key; it signs itself if left out. */
  issuer?: Certificate & { name: string };
  end?: number;
}

/** Key and certificate in PEM. */
export const createCertificate = ({
  name = 'localhost',
  issuer,
  end = Date.now() + DAY_MS,
}: CertificateOptions = {}): Certificate => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const body = unsigned({ publicKey, name, by: issuer?.name ?? name, end });
  const signer = issuer === undefined ? privateKey : createPrivateKey(issuer.key);
  const certificate = sequence(body, ECDSA_WITH_SHA256, bits(sign('sha256', body, signer)));
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${certificate.toString('base64')}\n-----END CERTIFICATE-----\n`,
  };
};

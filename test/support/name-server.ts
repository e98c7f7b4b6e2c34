/** A name server on loopback that answers as the test wants, or stays silent. */
import { createSocket, type RemoteInfo } from 'node:dgram';
import { once } from 'node:events';

export type Family = 4 | 6;
export type Answer = readonly string[] | 'no-such-name' | 'refused' | 'silent';
export type Answerer = (name: string, family: Family) => Answer | Promise<Answer>;

const HEADER_BYTES = 12;
const TYPE_AAAA = 28;
const CODES = { 'no-such-name': 3, refused: 5 } as const;

/** The name that is asked for, and where its labels end. Source: RFC 1035, section 4.1. */
const questionOf = (query: Buffer): { name: string; end: number } => {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 };
};

const bytesOf = (address: string): Buffer =>
  address === '::1' ? Buffer.concat([Buffer.alloc(15), Buffer.of(1)]) : Buffer.from(address.split('.').map(Number));

const record = (type: number, address: string): Buffer => {
  const data = bytesOf(address);
  const head = Buffer.alloc(HEADER_BYTES);
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
};

const reply = (query: Buffer, end: number, answer: Exclude<Answer, 'silent'>): Buffer => {
  const addresses = typeof answer === 'string' ? [] : answer;
  const header = Buffer.alloc(HEADER_BYTES);
  query.copy(header, 0, 0, 2);
  header.writeUInt16BE(0x8180 + (typeof answer === 'string' ? CODES[answer] : 0), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(addresses.length, 6);
  const type = query.readUInt16BE(end);
  const records = addresses.map((address) => record(type, address));
  return Buffer.concat([header, query.subarray(HEADER_BYTES, end + 4), ...records]);
};

export const startNameServer = async (answerer: Answerer) => {
  const socket = createSocket('udp4');
  /** Names whose IPv4 addresses were asked for, each time. */
  const asked: string[] = [];
  let isOpen = true;

  const answer = async (query: Buffer, { port, address }: RemoteInfo): Promise<void> => {
    const { name, end } = questionOf(query);
    const family = query.readUInt16BE(end) === TYPE_AAAA ? 6 : 4;
    if (family === 4) asked.push(name);
    const said = await answerer(name, family);
    if (said !== 'silent' && isOpen) socket.send(reply(query, end, said), port, address);
  };

  socket.on('message', (query, from) => void answer(query, from));
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    close: () => {
      isOpen = false;
      socket.close();
    },
  };
};

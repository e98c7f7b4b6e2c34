/**
 * The server's side of a WebSocket, as far as Socket Mode needs it: texts, pings and an end. Strict about what clients must
 * do. Source: RFC 6455
 */
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

export interface WebSocketPeer {
  send(text: string): void;
  /** Asks the client to close; its end of the connection goes with it. */
  close(code: number): void;
  /** Ends it as a crashed peer would. */
  destroy(): void;
}

interface WebSocketEvents {
  onText(text: string): void;
  onClose(): void;
}

const MAGIC = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const OPCODES = { text: 1, close: 8, ping: 9, pong: 10 } as const;
const LARGEST_BYTES = 1024 * 1024;

const frameOf = (opcode: number, payload: Buffer): Buffer => {
  const { length } = payload;
  if (length < 126) return Buffer.concat([Buffer.from([0x80 | opcode, length]), payload]);
  const head = Buffer.alloc(length < 65_536 ? 4 : 10);
  head[0] = 0x80 | opcode;
  head[1] = length < 65_536 ? 126 : 127;
  if (length < 65_536) head.writeUInt16BE(length, 2);
  else head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, payload]);
};

interface Frame {
  opcode: number;
  payload: Buffer;
  /** Bytes that it took. */
  size: number;
}

/** The first frame; undefined where it has not come whole. Throws for what a client must not send. */
const readFrame = (bytes: Buffer): Frame | undefined => {
  if (bytes.length < 2) return undefined;
  const [first = 0, second = 0] = bytes;
  if ((first & 0xf0) !== 0x80) throw new Error('a fragment, or an extension that was not agreed on');
  if ((second & 0x80) === 0) throw new Error('a client has to mask what it sends');
  const short = second & 0x7f;
  const longer = short === 126 ? 2 : short === 127 ? 8 : 0;
  const start = 2 + longer + 4;
  if (bytes.length < start) return undefined;
  const length = longer === 0 ? short : longer === 2 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  if (length > LARGEST_BYTES) throw new Error('too large');
  if (bytes.length < start + length) return undefined;
  const mask = bytes.subarray(start - 4, start);
  const payload = Buffer.from(
    bytes.subarray(start, start + length).map((byte, index) => byte ^ (mask[index % 4] ?? 0)),
  );
  return { opcode: first & 0x0f, payload, size: start + length };
};

/** Agrees to a request of the protocol; undefined, and the connection ended, where it is none. */
export const acceptWebSocket = (
  { headers, method }: IncomingMessage,
  socket: Duplex,
  { onText, onClose }: WebSocketEvents,
): WebSocketPeer | undefined => {
  const key = headers['sec-websocket-key'];
  if (method !== 'GET' || headers.upgrade?.toLowerCase() !== 'websocket' || key === undefined) {
    socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n');
    return undefined;
  }
  const accept = createHash('sha1').update(`${key}${MAGIC}`).digest('base64');
  const head = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade'];
  socket.write(`${[...head, `Sec-WebSocket-Accept: ${accept}`].join('\r\n')}\r\n\r\n`);
  const write = (opcode: number, payload: Buffer): void =>
    void (socket.writable && socket.write(frameOf(opcode, payload)));

  const take = ({ opcode, payload }: Frame): void => {
    if (opcode === OPCODES.text) onText(payload.toString());
    if (opcode === OPCODES.ping) write(OPCODES.pong, payload);
    if (opcode === OPCODES.close) {
      write(OPCODES.close, payload);
      socket.end();
    }
  };

  let left: Buffer = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    left = Buffer.concat([left, chunk]);
    try {
      for (let frame = readFrame(left); frame; frame = readFrame(left)) {
        left = left.subarray(frame.size);
        take(frame);
      }
    } catch {
      socket.destroy();
    }
  });
  socket.on('error', () => socket.destroy());
  socket.on('close', onClose);
  return {
    send: (text) => write(OPCODES.text, Buffer.from(text)),
    close: (code) => {
      const payload = Buffer.alloc(2);
      payload.writeUInt16BE(code);
      write(OPCODES.close, payload);
    },
    destroy: () => void socket.destroy(),
  };
};

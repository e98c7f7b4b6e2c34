/**
 * The connections of a server: how many there are, of all and of one address, and which one is closed for another. A new one
 * is never turned away. A client that asks at once is answered, whatever connections others hold, also from its own address,
 * as behind a proxy.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { sourceOf } from '../networks.ts';

interface Connection {
  socket: Socket;
  source: string;
  /** The larger, the later it came or asked. */
  order: number;
  request?: IncomingMessage;
  response?: ServerResponse;
}

interface ConnectionBounds {
  most: number;
  mostOfOne: number;
  answerMs: number;
  /** One was closed, as there are too many. */
  onClosed(source: string): void;
}

/** So many more may come in one round of the event loop, before it is looked who has asked. */
const BURST = 1000;

/** This part of the places is for those who have yet to ask: else slow answers could take them all. */
const TO_ASK = 1 / 4;

/** It has asked, and we have not answered yet. Before and after, it is the other side that we wait for. */
const isOurTurn = ({ request, response }: Connection): boolean =>
  request?.complete === true && response?.writableEnded === false;

/**
 * Which ones are closed, so that `bound` stay: who keeps us waiting before who waits for us, of the address that has the most
 * of them, and there the oldest.
 */
const surplusOf = (connections: Iterable<Connection>, bound: number): Connection[] => {
  const byAge = [...connections].toSorted((one, other) => one.order - other.order);
  const atWork = byAge.filter(isOurTurn);
  const waiting = byAge.filter((one) => !atWork.includes(one));
  const counts = new Map<string, number>();
  const countOf = ({ source }: Connection): number => counts.get(source) ?? 0;
  for (const one of byAge) counts.set(one.source, countOf(one) + 1);
  return Array.from({ length: Math.max(0, byAge.length - bound) }, () => {
    const from = waiting.length > bound * TO_ASK ? waiting : atWork;
    const largest = Math.max(...from.map(countOf));
    const [found] = from.splice(
      from.findIndex((one) => countOf(one) === largest),
      1,
    );
    if (found !== undefined) counts.set(found.source, largest - 1);
    return found;
  }).filter((found) => found !== undefined);
};

export const createConnections = ({ most, mostOfOne, answerMs, onClosed }: ConnectionBounds) => {
  const open = new Map<Socket, Connection>();
  let count = 0;
  let isDue = false;

  const close = ({ socket, source }: Connection): void => {
    open.delete(socket);
    // Else the system would keep for minutes what nobody reads.
    if (socket.writableLength > 0) socket.resetAndDestroy();
    else socket.destroy();
    onClosed(source);
  };

  const closeSurplus = (): void => {
    isDue = false;
    for (const group of Map.groupBy(open.values(), ({ source }) => source).values()) {
      for (const one of surplusOf(group, mostOfOne)) close(one);
    }
    for (const one of surplusOf(open.values(), most)) close(one);
  };

  return {
    /** A new one. Others are closed for it after a round of the event loop, when what it has sent was read. */
    admit: (socket: Socket): void => {
      count += 1;
      open.set(socket, { socket, source: sourceOf(socket.remoteAddress), order: count });
      socket.once('close', () => open.delete(socket));
      if (open.size > most + BURST) closeSurplus();
      if (isDue) return;
      isDue = true;
      setImmediate(() => setImmediate(closeSurplus));
    },
    /** False: it has asked before it was answered, and is closed. A kilobyte could ask for dozens of pages. */
    ask: (request: IncomingMessage, response: ServerResponse): boolean => {
      const { socket } = request;
      const connection = open.get(socket);
      if (connection === undefined || connection.response?.writableEnded === false) {
        socket.destroy();
        return false;
      }
      count += 1;
      Object.assign(connection, { order: count, request, response });
      response.once('prefinish', () => {
        const late = setTimeout(() => socket.resetAndDestroy(), answerMs).unref();
        response.once('close', () => clearTimeout(late));
      });
      return true;
    },
  };
};

/** bull-board, to look into the queues: loaded when somebody first asks for it, so that a daemon does not carry it before. */
import type { Board, BoardDependencies } from './open.ts';

/** Shows a page, a file or an answer of its API, by the path below where it stands; undefined: it has none there. */
export const createBoard = (dependencies: BoardDependencies): Board => {
  let opened: Promise<Board> | undefined;
  return {
    show: async (path, query) => {
      opened ??= import('./open.ts').then(({ openBoard }) => openBoard(dependencies));
      const board = await opened.catch((error: unknown) => {
        opened = undefined;
        throw error;
      });
      return board.show(path, query);
    },
  };
};

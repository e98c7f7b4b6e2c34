/** Notices that the config on disk is another than what was read, whatever way it came there. */

export interface DiskWatchDependencies {
  /** Of what was read last, right or wrong. */
  readPrint(): string;
  /** Of what is on disk; undefined where that cannot be looked at. */
  diskPrint(): Promise<string | undefined>;
  onChanged(): void;
}

/**
 * Gives one look, to be repeated every few seconds. Contents are compared, not times or inodes: editors replace a file by
 * renaming another, Kubernetes turns a link around, and network file systems tell nobody. A file that is just being
 * written is not read: it has to be the same at two looks. `read` resolves with the print that was found.
 */
export const createDiskWatch = ({ readPrint, diskPrint, onChanged }: DiskWatchDependencies) => {
  let before: string | undefined;
  return async (): Promise<string | undefined> => {
    const now = await diskPrint();
    const isSettled = now === before;
    before = now;
    if (now !== undefined && isSettled && now !== readPrint()) onChanged();
    return now;
  };
};

/** The compose files as data, and what runs of them here: their commands, with directories in the place of volumes. */
import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';

export interface ComposeService {
  image: string;
  entrypoint?: string[];
  command?: string | string[];
  environment?: Record<string, string | null>;
  volumes?: string[];
  ports?: string[];
  networks?: string[];
  restart?: string;
  read_only?: boolean;
  cap_drop?: string[];
  security_opt?: string[];
  stop_grace_period?: string;
  mem_limit?: string;
}

interface Compose {
  services: Record<string, ComposeService>;
  volumes: Record<string, unknown>;
  networks?: Record<string, { internal?: boolean } | null>;
}

export const COMPOSE_FILES = ['docker-compose.yml', 'docker-compose.ha.yml'] as const;

export const readProject = (file: string): Promise<string> =>
  readFile(new URL(`../../${file}`, import.meta.url), 'utf8');

export const readCompose = async (file: (typeof COMPOSE_FILES)[number]): Promise<Compose> =>
  parse(await readProject(file), { merge: true }) as Compose;

/** As compose hands it to the container. */
export const unescaped = (text: string): string => text.replaceAll('$$', '$');

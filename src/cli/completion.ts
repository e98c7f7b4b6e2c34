/** `tocsin completion`: a script for the shell, made from the commands as they are declared. */
import type { Command } from 'commander';
import { UsageError } from '../errors.ts';
import { shellQuoted as quoted } from './terminal.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

interface Word {
  text: string;
  summary: string;
}

/** What may follow a command's words. */
interface Node {
  /** The words after `tocsin`: `dead retry`; empty for the program itself. */
  path: readonly string[];
  words: Word[];
  options: Word[];
  /** Options after which a file is due. */
  files: string[];
}

const TAKES_FILE = /<(file|path)>/;

const optionsOf = (command: Command) => command.createHelp().visibleOptions(command);

const nodeOf = (command: Command, path: readonly string[]): Node => {
  const options = optionsOf(command);
  return {
    path,
    words: command.commands.map((child) => ({ text: child.name(), summary: child.summary() || child.description() })),
    options: options.flatMap(({ long, description }) => (long ? [{ text: long, summary: description }] : [])),
    files: options
      .filter(({ flags }) => TAKES_FILE.test(flags))
      .flatMap(({ long, short }) => [long, short].filter((flag) => typeof flag === 'string')),
  };
};

const nodesOf = (command: Command, path: readonly string[] = []): Node[] => [
  nodeOf(command, path),
  ...command.commands.flatMap((child) => nodesOf(child, [...path, child.name()])),
];

const wordsOf = ({ words, options }: Node): Word[] => [...words, ...options];
const texts = (words: readonly Word[]): string => words.map(({ text }) => text).join(' ');

const pathsOf = (nodes: readonly Node[]): string[] =>
  nodes.flatMap(({ path }) => (path.length === 0 ? [] : [quoted(path.join(' '))]));

/** As patterns of a `case`: the commands, and the options that a file follows. */
const patternsOf = (nodes: readonly Node[]): { paths: string; files: string } => ({
  paths: pathsOf(nodes).join('|'),
  files: [...new Set(nodes.flatMap((node) => node.files))].map(quoted).join('|'),
});

/** The body of a `case` over the commands: what each of them sets. */
const casesOf = (nodes: readonly Node[], setsFor: (node: Node) => string): string =>
  nodes.map((node) => `    ${quoted(node.path.join(' '))}) ${setsFor(node)} ;;`).join('\n');

/** Goes along the words that were typed as far as they are commands. */
const bash = (nodes: readonly Node[]): string => {
  const cases = casesOf(nodes, (node) => `words=${quoted(texts(wordsOf(node)))}`);
  const { paths, files } = patternsOf(nodes);
  return `# tocsin completion bash: eval "$(tocsin completion bash)", for example in ~/.bashrc
_tocsin() {
  local current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} path='' words='' next i
  case "$before" in ${files}) COMPREPLY=($(compgen -f -- "$current")); return ;; esac
  for ((i = 1; i < COMP_CWORD; i++)); do
    next="\${path:+$path }\${COMP_WORDS[i]}"
    case "$next" in ${paths}) path=$next ;; esac
  done
  case "$path" in
${cases}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _tocsin tocsin
`;
};

const zsh = (nodes: readonly Node[]): string => {
  const described = ({ text, summary }: Word): string => quoted(`${text}:${summary.replaceAll(':', '\\:')}`);
  const cases = casesOf(nodes, (node) => `found=(${wordsOf(node).map(described).join(' ')})`);
  const { paths, files } = patternsOf(nodes);
  return `#compdef tocsin
# tocsin completion zsh: eval "$(tocsin completion zsh)" after compinit, for example in ~/.zshrc
_tocsin() {
  local path_='' next i
  local -a found
  case "\${words[CURRENT-1]}" in ${files}) _files; return ;; esac
  for ((i = 2; i < CURRENT; i++)); do
    next="\${path_:+$path_ }\${words[i]}"
    case "$next" in ${paths}) path_=$next ;; esac
  done
  case "$path_" in
${cases}
  esac
  _describe tocsin found
}
compdef _tocsin tocsin
`;
};

const fish = (nodes: readonly Node[]): string => {
  const lines = nodes.flatMap((node) => {
    const condition = `-n ${quoted(`__tocsin_at ${quoted(node.path.join(' '))}`)}`;
    const words = node.words.map(
      ({ text, summary }) => `complete -c tocsin ${condition} -f -a ${text} -d ${quoted(summary)}`,
    );
    const options = node.options.map(({ text, summary }) => {
      const file = node.files.includes(text) ? ' -r -F' : '';
      return `complete -c tocsin ${condition} -l ${text.replace(/^--/, '')}${file} -d ${quoted(summary)}`;
    });
    return [...words, ...options];
  });
  return `# tocsin completion fish: tocsin completion fish | source, for example in ~/.config/fish/config.fish
function __tocsin_at
  set -l at ''
  for word in (commandline -opc)[2..-1]
    set -l next (string trim -- "$at $word")
    contains -- $next ${pathsOf(nodes).join(' ')}; and set at $next
  end
  test "$at" = "$argv[1]"
end
complete -c tocsin -f
${lines.join('\n')}
`;
};

const SCRIPTS: Readonly<Record<Shell, (nodes: readonly Node[]) => string>> = { bash, zsh, fish };

/** Throws a `UsageError` for another shell. */
export const completionScript = (program: Command, name: string): string => {
  const shell = SHELLS.find((known) => known === name);
  if (shell === undefined) throw new UsageError(`completion is for one of ${SHELLS.join(', ')} (got '${name}')`);
  return SCRIPTS[shell](nodesOf(program));
};

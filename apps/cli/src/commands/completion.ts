// `tandem completion`: a script for the shell, made from the commands themselves. It asks nothing at run time.
import type { Command } from "commander";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { print } from "../terminal/output.ts";

/** The shells there is a script for. */
export const SHELLS = ["bash", "zsh", "fish"] as const;

/** One of {@link SHELLS}. */
export type Shell = (typeof SHELLS)[number];

/** What can follow a command's words. */
interface Place {
  /** The words so far, for example `sessions list`; empty for the program itself. */
  path: string;
  commands: { name: string; description: string }[];
  flags: { name: string; description: string; takesValue: boolean; choices: readonly string[] }[];
  /** The values of the first argument, where they are known. */
  values: readonly string[];
}

export async function completion(program: Command, shell: Shell): Promise<ExitCode> {
  const places = listPlaces(program, []);
  print({ bash: toBash, zsh: toZsh, fish: toFish }[shell](places));
  return exitCodes.ok;
}

function listPlaces(command: Command, path: readonly string[]): Place[] {
  const help = command.createHelp();
  const commands = help.visibleCommands(command).filter((child) => child.name() !== "help");
  const place: Place = {
    path: path.join(" "),
    commands: commands.map((child) => ({
      name: child.name(),
      description: child.summary() || child.description(),
    })),
    flags: help.visibleOptions(command).flatMap(({ long, description, argChoices, ...option }) => {
      const takesValue = option.required || option.optional;
      return long ? [{ name: long, description, takesValue, choices: argChoices ?? [] }] : [];
    }),
    values: command.registeredArguments[0]?.argChoices ?? [],
  };
  return [place, ...commands.flatMap((child) => listPlaces(child, [...path, child.name()]))];
}

/** What a shell offers: words where there are some, flags where one is begun, else files. */
function toCases(places: readonly Place[], each: (place: Place) => string): string {
  return places.map((place) => `    ${quote(place.path)}) ${each(place)} ;;`).join("\n");
}

function toWords({ commands, values }: Place): string {
  return [...commands.map(({ name }) => name), ...values].join(" ");
}

function toFlagWords({ flags }: Place): string {
  return flags.map(({ name }) => name).join(" ");
}

/** What follows a flag that takes a value: its choices, else files. */
function toChoices(places: readonly Place[], setWords: (words: string) => string): string {
  return places
    .flatMap(({ path, flags }) => flags.map((flag) => ({ path, ...flag })))
    .filter(({ takesValue }) => takesValue)
    .map(
      ({ path, name, choices }) =>
        `    ${quote(`${path} ${name}`)}) ${setWords(quote(choices.join(" ")))} ;;`,
    )
    .join("\n");
}

/** The longest beginning of the typed words that is a command. */
function findPath(places: readonly Place[], word: string): string {
  const paths = places.flatMap(({ path }) => (path === "" ? [] : [quote(path)])).join("|");
  return `case "\${path:+$path }${word}" in ${paths}) path="\${path:+$path }${word}" ;; esac`;
}

function toBash(places: readonly Place[]): string {
  return `# bash completion of tandem: eval "$(tandem completion bash)"
_tandem() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} path= words= index
  for ((index = 1; index < COMP_CWORD; index++)); do
    ${findPath(places, `\${COMP_WORDS[index]}`)}
  done
  case "$path $previous" in
${toChoices(places, (words) => `words=${words}`)}
    *) case "$path" in
${toCases(places, (place) => `if [[ $current == -* ]]; then words=${quote(toFlagWords(place))}; else words=${quote(toWords(place))}; fi`)}
    esac ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
_tandem_npx() {
  COMPREPLY=()
  [[ \${COMP_WORDS[1]} == tandem ]] && ((COMP_CWORD > 1)) || return 0
  COMP_WORDS=("\${COMP_WORDS[@]:1}")
  ((COMP_CWORD--))
  _tandem
}
complete -o default -o bashdefault -F _tandem tandem
complete -p npx &>/dev/null || complete -o default -o bashdefault -F _tandem_npx npx`;
}

function toZsh(places: readonly Place[]): string {
  return `#compdef tandem
# zsh completion of tandem: eval "$(tandem completion zsh)"
_tandem() {
  local path_= words_= index
  for ((index = 2; index < CURRENT; index++)); do
    ${findPath(places, `\${words[index]}`).replaceAll("path", "path_")}
  done
  case "$path_ \${words[CURRENT-1]}" in
${toChoices(places, (words) => `words_=${words}`)}
    *) case "$path_" in
${toCases(places, (place) => `if [[ $PREFIX == -* ]]; then words_=${quote(toFlagWords(place))}; else words_=${quote(toWords(place))}; fi`)}
    esac ;;
  esac
  if [[ -n $words_ ]]; then compadd -- \${=words_}; else _files; fi
}
_tandem_npx() {
  if [[ \${words[2]} != tandem ]] || ((CURRENT < 3)); then _files; return; fi
  shift words
  ((CURRENT--))
  _tandem
}
if [[ \${funcstack[1]} == _tandem ]]; then _tandem "$@"; else
  compdef _tandem tandem
  (( \${+_comps[npx]} )) || compdef _tandem_npx npx
fi`;
}

function toFish(places: readonly Place[]): string {
  const lines = places.flatMap((place) => {
    const condition = quote(`__tandem_at ${quoteInner(place.path)}`);
    const commands = place.commands.map(
      ({ name, description }) =>
        `complete -c tandem -n ${condition} -f -a ${quote(name)} -d ${quote(description)}`,
    );
    const values = place.values.map((value) => `complete -c tandem -n ${condition} -f -a ${quote(value)}`);
    const flags = place.flags.map(({ name, description, choices }) => {
      const only = choices.length > 0 ? ` -x -a ${quote(choices.join(" "))}` : "";
      return `complete -c tandem -n ${condition} -l ${name.slice(2)} -d ${quote(description)}${only}`;
    });
    return [...commands, ...values, ...flags];
  });
  const paths = places.flatMap(({ path }) => (path === "" ? [] : [quote(path)])).join(" ");
  return `# fish completion of tandem: tandem completion fish | source
function __tandem_at
  set -l path
  for word in (commandline -opc)[2..-1]
    set -l longer (string trim -- "$path $word")
    contains -- "$longer" ${paths}; and set path "$longer"
  end
  test "$path" = "$argv[1]"
end
${lines.join("\n")}`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Within fish's single quotes. */
function quoteInner(text: string): string {
  return `"${text}"`;
}

/**
 * The image of the Dockerfile without a container engine: its steps one after the other, each RUN in a chroot. What
 * represents the base images is made of the packages of Debian that they are made of, and of nothing else.
 */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import {
  type Copy,
  DockerfileParser,
  From,
  type Instruction,
  type JSONInstruction,
  PropertyInstruction,
} from 'dockerfile-ast'
import { watched } from '../support/watched.ts'

const ROOT = join(import.meta.dir, '..', '..')

export type Image = {
  /** The directory that is its file system. */
  root: string
  env: Record<string, string>
  directory: string
  user: string
  volumes: string[]
  ports: string[]
  labels: Record<string, string>
  health: string[]
  stopSignal: string
  entrypoint: string[]
  command: string[]
}

const C_LIBRARY = ['libc6', 'libgcc-s1', 'libstdc++6']
/** By the name of the image; what each has beside its packages, and what the process has that runs in it. */
const BASES: Record<string, { packages: string[]; fill?: (root: string) => Promise<void> }> = {
  'oven/bun': {
    packages: [
      ...C_LIBRARY,
      ...['dash', 'coreutils', 'libselinux1', 'libpcre2-8-0', 'libacl1', 'libattr1', 'libgmp10'],
    ],
    fill: (root) => run('cp', process.execPath, join(root, 'usr/bin/bun')),
  },
  'gcr.io/distroless/cc-debian12': { packages: C_LIBRARY },
}

async function run(...command: string[]): Promise<void> {
  const child = watched(Bun.spawn(command, { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' }))
  const [out, error] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  if ((await child.exited) !== 0) throw new Error(`${command.join(' ')}\n${out}${error}`)
}

/** The last stage, below `place`. @throws Error at an instruction that is not known here, or that fails */
export async function buildImage(place: string): Promise<Image> {
  const context = join(place, 'context')
  await copyContext(context)
  const text = readFileSync(join(ROOT, 'Dockerfile'), 'utf8')
  const stages = new Map<string, Image>()
  let stage: Image | undefined
  for (const instruction of DockerfileParser.parse(text).getInstructions()) {
    if (instruction instanceof From) {
      stage = await base(instruction, join(place, `stage-${stages.size}`))
      stages.set(instruction.getBuildStage() ?? '', stage)
    } else if (stage === undefined) throw new Error('a Dockerfile begins with FROM')
    else await take(instruction, { stage, stages, context })
  }
  if (stage === undefined) throw new Error('there is no stage')
  return stage
}

/** Copies the files that .dockerignore lets through: all except those that are named. */
async function copyContext(to: string): Promise<void> {
  const rules = readFileSync(join(ROOT, '.dockerignore'), 'utf8').match(/^[^#\n].*/gm) ?? []
  const kept = rules.filter((rule) => rule !== '*')
  if (rules[0] !== '*' || !kept.every((rule) => /^![.\w/]+$/.test(rule)))
    throw new Error('.dockerignore has a rule that is not known here')
  mkdirSync(to)
  const paths = kept.map((rule) => rule.slice(1))
  const list = 'git ls-files --cached --others --exclude-standard -- "$@" | tar -cf - -T -'
  await run('sh', '-ec', `cd "$0" && ${list} | tar -xf - -C "${to}"`, ROOT, ...paths)
}

async function base(from: From, root: string): Promise<Image> {
  const found = BASES[from.getImage()?.replace(/:[^/]*$/, '') ?? '']
  if (!found) throw new Error(`no base replaces ${from.getImage()}`)
  const link = ['bin', 'sbin', 'lib', 'lib64']
  for (const name of [...link.map((it) => `usr/${it}`), 'etc', 'dev', 'proc', 'root'])
    mkdirSync(join(root, name), { recursive: true })
  mkdirSync(join(root, 'tmp'))
  for (const name of link) symlinkSync(`usr/${name}`, join(root, name))
  // Not what a folder is merged into, nor files of which the package only says where they went.
  const files = `dpkg -L "$@" | grep '^/' | grep -vE '^/usr/share|/gconv/|^/(bin|sbin|lib|lib64)$' |
    while read -r path; do if [ ! -d "$path" ] && [ -e "$path" ]; then echo "$path"; fi; done`
  const pass = `(${files}) | tar -C / -cPf - -T - | tar -C "$0" -xf - --keep-directory-symlink`
  await run('sh', '-ec', pass, root, ...found.packages)
  await found.fill?.(root)
  return {
    ...{ root, env: {}, directory: '/', user: '0:0', volumes: [], ports: [], labels: {} },
    ...{ health: [], stopSignal: 'SIGTERM', entrypoint: [], command: [] },
  }
}

type Building = { stage: Image; stages: Map<string, Image>; context: string }

async function take(instruction: Instruction, building: Building): Promise<void> {
  const { stage } = building
  const words = instruction.getArguments().map((word) => word.getValue())
  const json = () =>
    (instruction as JSONInstruction).getJSONStrings().map((it) => it.getJSONValue())
  const steps: Record<string, () => unknown> = {
    COPY: () => copy(instruction as Copy, building),
    RUN: () => runStep(instruction.getArgumentsContent() ?? '', stage),
    ENV: () => Object.assign(stage.env, pairs(instruction)),
    LABEL: () => Object.assign(stage.labels, pairs(instruction)),
    WORKDIR: () => workIn(words[0] ?? '', stage),
    USER: () => Object.assign(stage, { user: words[0] }),
    VOLUME: () => stage.volumes.push(...words),
    EXPOSE: () => stage.ports.push(...words),
    STOPSIGNAL: () => Object.assign(stage, { stopSignal: words[0] }),
    HEALTHCHECK: () => Object.assign(stage, { health: healthOf(instruction) }),
    ENTRYPOINT: () => Object.assign(stage, { entrypoint: json() }),
    CMD: () => Object.assign(stage, { command: json() }),
  }
  const step = steps[instruction.getKeyword()]
  if (!step) throw new Error(`${instruction.getKeyword()} is not known here`)
  await step()
}

function pairs(instruction: Instruction): Record<string, string> {
  const properties = instruction instanceof PropertyInstruction ? instruction.getProperties() : []
  return Object.fromEntries(properties.map((it) => [it.getName(), it.getValue() ?? '']))
}

function healthOf(instruction: Instruction): string[] {
  const [, list = ''] = /CMD (\[.*\])$/.exec(instruction.getArgumentsContent() ?? '') ?? []
  return JSON.parse(list)
}

function workIn(directory: string, stage: Image): void {
  stage.directory = directory
  mkdirSync(join(stage.root, directory), { recursive: true })
}

/** Owned by root unless said otherwise; of a directory its contents, and its mode where it is new. */
async function copy(instruction: Copy, { stage, stages, context }: Building): Promise<void> {
  const flags = Object.fromEntries(
    instruction.getFlags().map((flag) => [flag.getName(), flag.getValue() ?? '']),
  )
  const from = flags.from === undefined ? context : stages.get(flags.from)?.root
  if (from === undefined) throw new Error(`there is no stage ${flags.from}`)
  const words = instruction.getArguments().map((word) => word.getValue())
  const target = words.pop() ?? ''
  const to = join(stage.root, resolve(stage.directory, target))
  const script = `
    from=$1 to=$2 isFolder=$3 owner=$4; shift 4
    for source in "$@"; do
      if [ -d "$from/$source" ]; then new="$from/$source" to_this=$to
      elif [ -n "$isFolder" ]; then new="$from/$source" to_this=$to/$(basename "$source")
      else new="$from/$source" to_this=$to; fi
      [ -e "$new" ] || { echo "there is no $new"; exit 1; }
      mkdir -p "$(dirname "$to_this")"
      if [ -d "$to_this" ]; then cp -R --preserve=mode,links "$new/." "$to_this"
      else cp -R --preserve=mode,links --no-target-directory "$new" "$to_this"; fi
      [ "$owner" = 0:0 ] || chown -R "$owner" "$to_this"
    done`
  const isFolder = target.endsWith('/') || words.length > 1 ? 'yes' : ''
  await run('sh', '-ec', script, 'sh', from, to, isFolder, flags.chown ?? '0:0', ...words)
}

/** With the network, the cache of packages and the certificates of this machine. */
async function runStep(text: string, { root, directory, env }: Image): Promise<void> {
  writeFileSync(join(root, 'etc/resolv.conf'), '')
  const script = `
    root=$1 directory=$2 cache=$3; shift 3
    mount -t proc proc "$root/proc"; mount --rbind /dev "$root/dev"
    mount --bind /etc/resolv.conf "$root/etc/resolv.conf"
    mkdir -p "$root/etc/ssl" "$root/root/.bun/install/cache" "$cache"
    mount --bind /etc/ssl "$root/etc/ssl"; mount --bind "$cache" "$root/root/.bun/install/cache"
    exec unshare --root="$root" --wd="$directory" -- sh -ec "$1"`
  const set = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  const cache = process.env.BUN_INSTALL_CACHE_DIR ?? join(homedir(), '.bun/install/cache')
  await run(
    ...['env', '-u', 'BUN_INSTALL_CACHE_DIR', 'HOME=/root', ...set],
    ...['unshare', '--mount', '--pid', '--fork', '--kill-child'],
    ...['sh', '-ec', script, 'sh', root, directory, cache, text],
  )
}

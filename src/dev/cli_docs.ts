/** Writes docs/reference/cli.md and the pages below it: `bun src/dev/cli_docs.ts`. A test fails while they are stale. */
import { join } from 'node:path'
import { nameIn, nameOf } from '../cli/command.ts'
import { contents } from '../cli/commands/contents.ts'
import { loadCommands } from '../cli/commands/index.ts'
import { type CliPage, cliIndex, cliPage } from './cli_markdown.ts'

const FOLDER = join(import.meta.dir, '../../docs/reference')

type Declared = { file: string; title: string; about: string; headings: readonly string[] }

const declared: readonly Declared[] = [
  {
    file: 'start',
    title: 'Commands to start',
    about: 'Run the demo or a server, sign in, choose a project, and set up this machine.',
    headings: ['Start', 'This machine'],
  },
  {
    file: 'secrets',
    title: 'Commands for secrets',
    about: 'Store secrets, limit their use with policies, and pass them to programs.',
    headings: ['Secrets'],
  },
  {
    file: 'agents',
    title: 'Commands for agents',
    about:
      'Give agents and workloads tokens, allow hosts, decide requests, and read the audit log.',
    headings: ['Agents'],
  },
  {
    file: 'team',
    title: 'Commands for teams and accounts',
    about: 'Manage workspaces, members, notices, accounts and sessions.',
    headings: ['Team and account'],
  },
  {
    file: 'server',
    title: 'Commands for servers',
    about:
      'Check, back up, restore, move and upgrade a server. They read its [settings](../settings.md).',
    headings: ['Server'],
  },
]

/** The text of each page, by its path. */
export async function renderCliDocs(): Promise<ReadonlyMap<string, string>> {
  const pages = await loadPages()
  return new Map([
    [join(FOLDER, 'cli.md'), cliIndex(pages)],
    ...pages.map((page) => [join(FOLDER, 'cli', `${page.file}.md`), cliPage(page)] as const),
  ])
}

async function loadPages(): Promise<CliPage[]> {
  const entries = await loadCommands(listEveryWord())
  return declared.map(({ headings, ...page }) => ({
    ...page,
    sections: headings.map((heading) => {
      const names = Object.keys(contents[heading] ?? {}).map(nameIn)
      return { heading, entries: entries.filter((entry) => names.includes(nameOf(entry))) }
    }),
  }))
}

/** The names of all groups and commands. */
function listEveryWord(): string[] {
  return Object.values(contents).flatMap((listed) =>
    Object.entries(listed).flatMap(([usage, held]) => [
      nameIn(usage),
      ...(typeof held === 'string' ? [] : Object.keys(held.commands).map(nameIn)),
    ]),
  )
}

if (import.meta.main) for (const [path, text] of await renderCliDocs()) await Bun.write(path, text)

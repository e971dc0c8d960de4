/** Pages of the documentation by the names that people type: `agents`, `guides/agents`, `errors#quota_exceeded`. */
import type { DocPage } from '../../console/docs/contents.ts'
import { nameIn } from '../command.ts'
import { contents } from '../commands/contents.ts'

/** Names of commands and groups. */
export function commandNames(): Set<string> {
  return new Set(Object.values(contents).flatMap((entries) => Object.keys(entries).map(nameIn)))
}

/** The base name, or the path if an earlier page or a command has that name. */
export function nameTopics(pages: readonly DocPage[]): Map<string, DocPage> {
  const commands = commandNames()
  const topics = new Map<string, DocPage>()
  for (const page of pages) {
    const name = baseName(page.path)
    topics.set(commands.has(name) || topics.has(name) ? page.path : name, page)
  }
  return topics
}

/** The page with this name, path or base name. */
export function findTopic(
  topics: ReadonlyMap<string, DocPage>,
  typed: string,
): DocPage | undefined {
  const path = typed.replace(/^\/?docs\//, '').replace(/\.md$/, '')
  const pages = [...topics.values()]
  const byPath = pages.find((page) => page.path === path)
  return topics.get(path) ?? byPath ?? pages.find((page) => baseName(page.path) === path)
}

/** The row of an error code, as Markdown, or `null`. */
export function rowOfCode(pages: readonly DocPage[], code: string): string | null {
  const errors = pages.find(({ path }) => path === 'reference/errors')
  const row = /^\w+$/.test(code)
    ? new RegExp(`^\\| \`${code}\` \\|.*$`, 'm').exec(errors?.text ?? '')?.[0]
    : undefined
  return row === undefined ? null : `# ${code}\n\n| Code | Cause | Fix |\n|---|---|---|\n${row}\n`
}

export function baseName(path: string): string {
  return path.split('/').at(-1) ?? path
}

/** The command that shows a place in the documentation, such as `reference/errors.md#conflict`. */
export function helpCommandFor(docs: string): string | null {
  // The server sent it, and a person may paste it into a shell.
  const [, path = '', anchor = ''] = /^([\w/-]+)\.md(#[\p{L}\p{N}_-]+)?$/u.exec(docs) ?? []
  return path === '' ? null : `cloakroom help ${baseName(path)}${anchor}`
}

/** The Markdown of the documentation, for the command line: from docs/ in a source folder, else from the executable. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { runsFromSource } from '../build_on_demand.ts'
import { type DocPage, listPages } from './contents.ts'
import { withoutComments } from './headings.ts'

const DOCS = join(import.meta.dir, '..', '..', '..', 'docs')
const MARKDOWN = /\.md$/

/** All pages, in the order of the index. */
export async function readPages(): Promise<DocPage[]> {
  return listPages(runsFromSource ? await readSource() : await readEmbedded())
}

async function readSource(): Promise<Map<string, string>> {
  const names = await readdir(DOCS, { recursive: true })
  const read = names
    .filter((name) => MARKDOWN.test(name))
    .map(async (name) => [name, withoutComments(await Bun.file(join(DOCS, name)).text())] as const)
  return new Map(await Promise.all(read))
}

async function readEmbedded(): Promise<Map<string, string>> {
  const { readArchive } = await import('../archive_files.ts')
  const { default: path } = await import('../../../dist/docs.tar', { with: { type: 'file' } })
  const files = [...(await readArchive(path))].filter(([name]) => MARKDOWN.test(name))
  return new Map(files.map(([name, { plain }]) => [name, new TextDecoder().decode(plain)]))
}

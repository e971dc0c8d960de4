/**
 * Makes dist/docs.tar: the documentation as it is served (src/console/docs/serve.ts), as HTML and as Markdown, with its
 * pictures, its search index and llms.txt (llmstxt.org).
 *
 * bun src/dev/docs/index.ts [--force]
 */
import { join } from 'node:path'
import {
  type DocPage,
  layersOf,
  listPages,
  type SearchIndex,
  titleOf,
} from '../../console/docs/contents.ts'
import { sectionsOf, withoutComments } from '../../console/docs/headings.ts'
import { type Compressed, compressAll, ensureArchive, type Files } from '../built_archive.ts'
import { compileStyle, consoleFonts } from '../console_style.ts'
import { DOCS, renderPage, toPlainText } from './html.ts'
import { type Assets, framePage } from './layout.ts'

const WEB = join(import.meta.dir, '..', '..', 'console', 'web')
const FOLDERS = ['docs', 'src/console/docs', 'src/console/web/docs', 'src/dev/docs']
const SINGLE_FILES = [
  'bun.lock',
  'src/console/web/parts/theme.ts',
  'src/console/web/styles/tokens.css',
  'src/dev/archive.ts',
  'src/dev/built_archive.ts',
  'src/dev/console_style.ts',
]
/** The page with a table row for each error code. */
const ERRORS = 'reference/errors'
const UNKNOWN_PAGE = '# Page not found\n\nSearch for it, or start at the [overview](index.md).\n'

/** Does nothing if the archive is that of these sources. */
export async function ensureDocs(force = false): Promise<void> {
  const source = { name: 'docs', folders: FOLDERS, files: SINGLE_FILES, force }
  const pictures: Files = new Map()
  const build = async (): Promise<Compressed[]> => {
    const files = await buildDocs()
    for (const [name, bytes] of files) {
      if (!/\.(png|woff2)$/.test(name)) continue
      pictures.set(name, bytes)
      files.delete(name)
    }
    return compressAll(files)
  }
  await ensureArchive(source, build, () => pictures)
}

/** All files by their names below /docs/. An address without an extension is that of the file with `.html`. */
async function buildDocs(): Promise<Files> {
  const texts = await readTexts()
  const index = texts.get('index.md') ?? ''
  const pages = listPages(texts)
  const files: Files = new Map()
  const add = (name: string, content: string) => files.set(name, new TextEncoder().encode(content))
  const assets = await addAssets(files, searchIndexOf(pages))
  const names = new Set(texts.keys())
  const linked = new Set<string>()
  const frame = (path: string | null, text: string, about: string) => {
    const { html, files: used } = renderPage(`${path ?? '404'}.md`, text, names)
    for (const file of used) linked.add(file)
    const page = { path, title: titleOf(text), about, text, html }
    return framePage(page, pages, assets)
  }
  for (const { path, text, about } of pages) add(`${path}.html`, frame(path, text, about))
  add('index.html', frame('index', index, summaryOf(index)))
  add('404.html', frame(null, UNKNOWN_PAGE, ''))
  for (const [name, text] of texts) add(name, text)
  for (const name of linked) files.set(name, await Bun.file(join(DOCS, name)).bytes())
  add('llms.txt', describeForModels(pages, index))
  return files
}

async function readTexts(): Promise<Map<string, string>> {
  const texts = new Map<string, string>()
  for (const name of [...new Bun.Glob('**/*.md').scanSync(DOCS)].sort())
    texts.set(name, withoutComments(await Bun.file(join(DOCS, name)).text()))
  return texts
}

async function addAssets(files: Files, index: SearchIndex): Promise<Assets> {
  const fonts = await consoleFonts('/docs/')
  for (const [name, bytes] of fonts.files) files.set(name, bytes)
  const add = (name: string, content: string) => {
    const bytes = new TextEncoder().encode(content)
    const hash = new Bun.CryptoHasher('sha256').update(bytes).digest('hex').slice(0, 8)
    const path = `assets/${name.replace('.', `-${hash}.`)}`
    files.set(path, bytes)
    return `/docs/${path}`
  }
  const built = await Bun.build({
    entrypoints: [join(WEB, 'docs', 'main.ts')],
    target: 'browser',
    format: 'iife',
    minify: true,
  })
  const [script] = built.outputs
  if (!script) throw new Error('the script of the documentation is not built')
  return {
    style: add('style.css', await compileStyle(join(WEB, 'docs', 'style.css'), fonts.addresses)),
    script: add('main.js', await script.text()),
    search: add('search.json', JSON.stringify(index)),
  }
}

function searchIndexOf(pages: readonly DocPage[]): SearchIndex {
  return pages.map(({ path, layer, title, text }) => ({
    href: `/docs/${path}`,
    title,
    layer,
    sections: sectionsOf(text)
      .filter((section) => section.level > 0)
      .flatMap(({ level, heading, anchor, text: below }) => [
        {
          heading: level === 1 ? '' : toPlainText(heading),
          anchor: level === 1 ? '' : anchor,
          text: toPlainText(below),
        },
        ...(path === ERRORS ? codeSectionsOf(anchor, below) : []),
      ]),
  }))
}

/** Each row of an error table is found by its code, as if it had a heading. */
function codeSectionsOf(anchor: string, text: string) {
  return [...text.matchAll(/^\| `(\w+)` \| (.*) \|$/gm)].map(([, heading = '', row = '']) => {
    return { heading, anchor, text: toPlainText(row.replace(' | ', '. ')) }
  })
}

/** The first paragraph of a page. */
function summaryOf(text: string): string {
  const [, first] = sectionsOf(text)
  return toPlainText(first?.text.trim().split('\n\n')[0] ?? '')
}

function describeForModels(pages: readonly DocPage[], index: string): string {
  const layers = layersOf(pages).map(([layer, listed]) => {
    const lines = listed.map(({ path, title, about, text }) => {
      return `- [${title}](/docs/${path}.md): ${about === '' ? summaryOf(text) : about}`
    })
    return `## ${layer}\n\n${lines.join('\n')}\n`
  })
  return [`# ${titleOf(index)}\n`, `> ${summaryOf(index)}\n`, ...layers].join('\n')
}

if (import.meta.main) await ensureDocs(process.argv.includes('--force'))

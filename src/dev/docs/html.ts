/** A page of the documentation as HTML. Raw HTML in Markdown is shown as text. */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join, posix } from 'node:path'
import { anchorsOf } from '../../console/docs/headings.ts'

export const DOCS = join(import.meta.dir, '..', '..', '..', 'docs')

const PARSER = { noHtmlBlocks: true, noHtmlSpans: true } as const
const EXTERNAL = /^(https?|mailto):/
const COMMENT = /(^|\s)(#.*)$/gm
/** Bytes of a PNG file: its width and height, each a 32-bit number. */
const PNG_SIZE = { width: 16, height: 20 }

/** The text without marks, on one line. */
export function toPlainText(markdown: string): string {
  const spaceOut = (text: string) => `${text} `
  const blocks = { heading: spaceOut, paragraph: spaceOut, listItem: spaceOut, code: spaceOut }
  const cells = { th: spaceOut, td: spaceOut, image: () => '' }
  const text = Bun.markdown.render(markdown, { ...blocks, ...cells }, PARSER)
  return text.replace(/\s+/g, ' ').trim()
}

export type Rendered = {
  html: string
  /** Files below docs/ that the page shows or links to, apart from pages. */
  files: Set<string>
}

/**
 * Renders a page. Links to pages become addresses below /docs/. Links to files that are not served are shown as text.
 *
 * @param path of the Markdown file below docs/
 * @param pages paths of all Markdown files below docs/
 */
export function renderPage(path: string, text: string, pages: ReadonlySet<string>): Rendered {
  const anchors = anchorsOf(text)
  const files = new Set<string>()
  let count = 0
  const address = (to: string) => addressOf(path, to, pages, files)
  const html = new HTMLRewriter()
    .on('h1, h2, h3, h4, h5, h6', {
      element(heading) {
        const anchor = anchors[count++] ?? ''
        heading.setAttribute('id', anchor)
        if (heading.tagName !== 'h1') heading.append(anchorLink(anchor), { html: true })
      },
    })
    .on('a', {
      element(link) {
        const to = address(link.getAttribute('href') ?? '')
        if (to === null) link.removeAndKeepContent()
        else link.setAttribute('href', to)
        if (to !== null && EXTERNAL.test(to)) link.setAttribute('rel', 'noreferrer')
      },
    })
    .on('img', { element: (image) => showImage(image, address) })
    .on('table', {
      element(table) {
        table.before('<div class="wide" role="group" aria-label="Table" tabindex="0">', {
          html: true,
        })
        table.after('</div>', { html: true })
      },
    })
    .on('pre', { element: (block) => void block.setAttribute('tabindex', '0') })
    .transform(Bun.markdown.html(text, { ...PARSER, autolinks: { url: true } }))
  if (count !== anchors.length) throw new Error(`headings of docs/${path} are not all found`)
  const shown = html
    .replace(/(<code class="language-sh">)(.*?)<\/code>/gs, dimComments)
    // An empty cell is no heading of a column.
    .replace(/<th([^>]*)><\/th>/g, '<td$1></td>')
  return { html: shown, files }
}

function anchorLink(anchor: string): string {
  return `<a class="anchor" href="#${anchor}" aria-hidden="true" tabindex="-1">#</a>`
}

/** The address of a link, or `null` if its target is not served. Adds files that the server must have. */
function addressOf(
  from: string,
  to: string,
  pages: ReadonlySet<string>,
  files: Set<string>,
): string | null {
  if (EXTERNAL.test(to) || to.startsWith('#')) return to
  const [file = '', anchor] = to.split('#')
  const path = posix.join(posix.dirname(from), file)
  const fragment = anchor === undefined ? '' : `#${anchor}`
  if (path === 'index.md') return `/docs/${fragment}`
  if (pages.has(path)) return `/docs/${path.slice(0, -'.md'.length)}${fragment}`
  const place = join(DOCS, path)
  if (path.startsWith('..') || !existsSync(place) || !statSync(place).isFile()) return null
  files.add(path)
  return `/docs/${path}`
}

function showImage(image: HTMLRewriterTypes.Element, address: (to: string) => string | null): void {
  const to = address(image.getAttribute('src') ?? '')
  if (to === null) throw new Error(`no such picture: ${image.getAttribute('src')}`)
  image.setAttribute('src', to)
  image.setAttribute('loading', 'lazy')
  if (!to.endsWith('.png')) return
  const bytes = readFileSync(join(DOCS, to.slice('/docs/'.length)))
  for (const [name, at] of Object.entries(PNG_SIZE))
    image.setAttribute(name, String(bytes.readUInt32BE(at)))
}

function dimComments(_: string, start: string, code: string): string {
  const dimmed = code.replace(COMMENT, '$1<span class="comment">$2</span>')
  return `${start}${dimmed}</code>`
}

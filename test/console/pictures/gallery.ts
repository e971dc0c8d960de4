/** The page that shows all pictures, each beside its mock-up. */
import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Entry } from './entry.ts'
import { shots } from './render.ts'

type Gallery = {
  folder: string
  mockUps: string | undefined
  failures: ReadonlyMap<string, string>
}

const STYLE = `
  body { font: 14px/1.5 system-ui; margin: 24px; background: #f4f4f6 }
  section { margin-bottom: 48px }
  div { display: flex; flex-wrap: wrap; gap: 16px; align-items: start }
  figure { margin: 0 }
  img { border: 1px solid #ccc; max-height: 600px; background: #fff }
  pre { color: #b00; white-space: pre-wrap }`

export async function writeGallery(entries: readonly Entry[], gallery: Gallery): Promise<string> {
  const index = entries.map(({ name }) => `<a href="#${name}">${name}</a>`).join(' · ')
  const sections = entries.map((entry) => sectionOf(entry, gallery))
  const path = join(gallery.folder, 'index.html')
  await Bun.write(
    path,
    `<!doctype html><meta charset="utf-8"><title>Console pictures</title><style>${STYLE}</style>
    <h1>Console pictures</h1><p>${index}</p>${sections.join('\n')}`,
  )
  return path
}

function sectionOf(entry: Entry, { folder, mockUps, failures }: Gallery): string {
  const { name, mockUp = name } = entry
  const failure = failures.get(name)
  const figures = shots.flatMap((shot) => {
    const own = join(folder, `${name}-${shot}.png`)
    const drawn = join(mockUps ?? '', `${mockUp}-${shot}.png`)
    return [
      ...(existsSync(own) ? [figureOf(relative(folder, own), shot)] : []),
      ...(mockUps && existsSync(drawn)
        ? [figureOf(relative(folder, drawn), `mock-up ${shot}`)]
        : []),
    ]
  })
  const error = failure === undefined ? '' : `<pre>${Bun.escapeHTML(failure)}</pre>`
  return `<section id="${name}"><h2>${name}</h2>${error}<div>${figures.join('')}</div></section>`
}

const figureOf = (source: string, caption: string) =>
  `<figure><a href="${source}"><img src="${source}" alt="" loading="lazy"></a><figcaption>${caption}</figcaption></figure>`

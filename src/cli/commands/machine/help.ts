/** `cloakroom help`: pages of the documentation in the terminal. The help of a command is shown by src/cli/index.ts. */
import { type DocPage, layersOf } from '../../../console/docs/contents.ts'
import { sectionAt } from '../../../console/docs/headings.ts'
import { readPages } from '../../../console/docs/texts.ts'
import { command } from '../../command.ts'
import type { Context } from '../../context.ts'
import { renderForTerminal } from '../../help/on_terminal.ts'
import { commandNames, findTopic, nameTopics, rowOfCode } from '../../help/topics.ts'
import { buildNotFoundError } from '../../named.ts'
import { hasColour } from '../../terminal/streams.ts'

/** Columns: longer lines are hard to read. */
const WIDEST = 100
const WITHOUT_TERMINAL = 80

export default command({
  usage: 'help [topic]',
  examples: ['help', 'help agents', 'help errors#conflict', 'help secrets set'],
  action: async (context, [typed]) => {
    const topics = nameTopics(await readPages())
    if (typed === undefined) return listTopics(context, topics)
    const [name = '', anchor] = typed.split('#')
    const page = findTopic(topics, name)
    const row = page ? null : rowOfCode([...topics.values()], name)
    if (row !== null) return show(context, { path: 'reference/errors', title: name }, row)
    if (!page) {
      const known = [...topics.keys(), ...commandNames()]
      throw buildNotFoundError(name, known, { what: 'help topic', list: 'help' })
    }
    const text = anchor === undefined ? page.text : sectionAt(page.text, anchor)
    if (text === null) {
      throw buildNotFoundError(anchor ?? '', [], {
        what: 'section',
        where: `in ${name}`,
        list: `help ${name}`,
      })
    }
    return show(context, page, text)
  },
})

function listTopics({ output }: Context, topics: ReadonlyMap<string, DocPage>): undefined {
  const names = new Map([...topics].map(([name, page]) => [page, name]))
  const rows = [...topics].map(([topic, { layer, title, about }]) => ({
    ...{ topic, layer, title, about },
  }))
  if (output.isJson || output.isQuiet) {
    output.table(rows, ['topic'], rows)
    return undefined
  }
  const widest = Math.max(...[...topics.keys()].map((name) => name.length))
  const lines = layersOf([...topics.values()]).flatMap(([layer, pages]) => [
    `\n${layer}:`,
    ...pages.map((page) =>
      `  ${(names.get(page) ?? '').padEnd(widest)}  ${page.about || page.title}`.trimEnd(),
    ),
  ])
  output.raw(`\nTopics, shown with \`cloakroom help <topic>\`:\n${lines.join('\n')}\n`)
  return undefined
}

type Place = Pick<DocPage, 'path' | 'title'>

function show({ host, output }: Context, { path, title }: Place, text: string): undefined {
  if (output.isJson) {
    output.record({ page: path, title, text })
    return undefined
  }
  const { stdout } = host.streams
  const width = Math.min(stdout.columns ?? WITHOUT_TERMINAL, WIDEST)
  const colour = hasColour(host.env, stdout.isTTY === true)
  // The text is this program's own: `output.raw` would replace its colors.
  stdout.write(renderForTerminal(text, { width, colour }))
  return undefined
}

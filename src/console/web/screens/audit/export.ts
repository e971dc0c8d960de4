/** All matching records as a file: one JSON object a line, or a table for spreadsheets. */
import { useMutation } from '@tanstack/react-query'
import { csvHead, csvLine } from '../../../../client/audit_csv.ts'
import { download } from '../../../../client/http/answer.ts'
import { urlOf } from '../../../../client/http/api.ts'
import { exportAudit, listAuditLogs } from '../../../../features/audit/contract.ts'
import { api } from '../../api.ts'
import type { MenuChoice } from '../../parts/overlays/menu.tsx'
import { say } from '../../parts/overlays/toasts.tsx'
import { texts } from '../../texts/index.ts'
import { recordFilters } from './filters.ts'
import type { AuditFilters } from './search.ts'

const words = texts.audit
const formats = ['jsonl', 'csv'] as const
type Format = (typeof formats)[number]

export function useExport(workspaceId: string, filters: AuditFilters): MenuChoice[] {
  const exporting = useMutation({
    mutationFn: async (format: Format) => {
      const query = recordFilters(workspaceId, filters)
      // A small call first renews an expired session.
      await api.call(listAuditLogs, { query: { ...query, limit: 1 } })
      const pieces = download(exportAudit, urlOf(location.origin, exportAudit, { query }), {})
      return save(await (format === 'csv' ? tableOf(pieces) : linesOf(pieces)), format)
    },
    onMutate: () => say(words.exporting),
    onSuccess: (name) => say(words.exported(name)),
    onError: () => say(words.exportFailed),
  })
  return formats.map((format) => ({
    id: format,
    label: words.exports[format],
    act: () => exporting.mutate(format),
  }))
}

type Pieces = AsyncIterable<Uint8Array>

async function linesOf(pieces: Pieces): Promise<Blob> {
  const parts: BlobPart[] = []
  for await (const piece of pieces) parts.push(new Uint8Array(piece))
  return new Blob(parts, { type: exportAudit.mediaType })
}

async function tableOf(pieces: Pieces): Promise<Blob> {
  // Without this mark, spreadsheets do not read a file as UTF-8.
  const parts: BlobPart[] = ['\ufeff', csvHead()]
  const decoder = new TextDecoder()
  let rest = ''
  for await (const piece of pieces) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    parts.push(lines.map((line) => csvLine(JSON.parse(line))).join(''))
  }
  return new Blob(parts, { type: 'text/csv' })
}

/** Returns the name of the file. */
function save(file: Blob, format: Format): string {
  const url = URL.createObjectURL(file)
  const link = document.createElement('a')
  link.href = url
  link.download = `audit.${format}`
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
  return link.download
}

/** All records that fit, as a file: one JSON object a line, or a table for spreadsheets. */
import { useMutation } from '@tanstack/react-query'
import { csvHead, csvLine } from '../../../../client/audit_csv.ts'
import { download } from '../../../../client/http/answer.ts'
import { urlOf } from '../../../../client/http/api.ts'
import { exportAudit, listAuditLogs } from '../../../../features/audit/contract.ts'
import { api } from '../../api.ts'
import { Button } from '../../parts/button.tsx'
import { texts } from '../../texts/index.ts'
import { type AuditFilters, recordFilters } from './records.ts'

const words = texts.audit
const formats = ['jsonl', 'csv'] as const
type Format = (typeof formats)[number]

export function Export({ workspaceId, filters }: { workspaceId: string; filters: AuditFilters }) {
  const exporting = useMutation({
    mutationFn: async (format: Format) => {
      const query = recordFilters(workspaceId, filters)
      // A small call first: it renews the session if that has expired.
      await api.call(listAuditLogs, { query: { ...query, limit: 1 } })
      const pieces = download(exportAudit, urlOf(location.origin, exportAudit, { query }), {})
      save(await (format === 'csv' ? tableOf(pieces) : linesOf(pieces)), format)
    },
  })
  return (
    <>
      {formats.map((format) => (
        <Button
          key={format}
          kind="ghost"
          isPending={exporting.isPending && exporting.variables === format}
          onPress={() => exporting.mutate(format)}
        >
          {words.exporting[format]}
        </Button>
      ))}
      {exporting.error ? <span role="alert">{words.exportFailed}</span> : null}
    </>
  )
}

type Pieces = AsyncIterable<Uint8Array>

async function linesOf(pieces: Pieces): Promise<Blob> {
  const parts: BlobPart[] = []
  for await (const piece of pieces) parts.push(new Uint8Array(piece))
  return new Blob(parts, { type: exportAudit.mediaType })
}

async function tableOf(pieces: Pieces): Promise<Blob> {
  // Spreadsheets take UTF-8 for what it is by the mark alone.
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

function save(file: Blob, format: Format): void {
  const url = URL.createObjectURL(file)
  const link = document.createElement('a')
  link.href = url
  link.download = `audit.${format}`
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}

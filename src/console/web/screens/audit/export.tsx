/** All records that fit, as a file: one JSON object per line. */
import { useMutation } from '@tanstack/react-query'
import { download } from '../../../../client/http/answer.ts'
import { urlOf } from '../../../../client/http/api.ts'
import { exportAudit, listAuditLogs } from '../../../../features/audit/contract.ts'
import { api } from '../../api.ts'
import { Button } from '../../parts/button.tsx'
import { texts } from '../../texts/index.ts'
import { type AuditFilters, queryOf } from './records.ts'

const words = texts.audit

export function Export({ workspaceId, filters }: { workspaceId: string; filters: AuditFilters }) {
  const exporting = useMutation({
    mutationFn: async () => {
      const query = queryOf(workspaceId, filters)
      // A small call first: it renews the session if that has expired.
      await api.call(listAuditLogs, { query: { ...query, limit: 1 } })
      save(await read(urlOf(location.origin, exportAudit, { query })))
    },
  })
  return (
    <>
      <Button kind="quiet" isPending={exporting.isPending} onPress={() => exporting.mutate()}>
        {words.exporting}
      </Button>
      {exporting.error ? <span role="alert">{words.exportFailed}</span> : null}
    </>
  )
}

async function read(url: string): Promise<Blob> {
  const pieces: BlobPart[] = []
  for await (const piece of download(exportAudit, url, {})) pieces.push(new Uint8Array(piece))
  return new Blob(pieces, { type: exportAudit.mediaType })
}

function save(file: Blob): void {
  const url = URL.createObjectURL(file)
  const link = document.createElement('a')
  link.href = url
  link.download = 'audit.jsonl'
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}

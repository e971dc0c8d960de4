/** Settings of a workspace: a card for each, with at most one action. */
import { getRouteApi } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { useCurrentWorkspace } from '../../frame/current_workspace.ts'
import { useMay } from '../../manages.ts'
import { Screen } from '../../parts/page/screen.tsx'
import { SkeletonRows } from '../../parts/page/skeleton.tsx'
import { texts } from '../../texts/index.ts'
import { EndCard } from './end.tsx'
import { FingerprintCard } from './fingerprint.tsx'
import { KeyCard } from './key.tsx'
import { NameCard } from './name.tsx'

const route = getRouteApi('/w/$workspaceId/settings')
const NoticeTargets = lazy(() => import('./notice_targets.tsx'))

export function WorkspaceSettings() {
  const { workspaceId } = route.useParams()
  const current = useCurrentWorkspace()
  const managesNotices = useMay(workspaceId, 'notice.manage')
  const workspace = current?.workspace
  return (
    <Screen title={texts.common.areas.settings} isPage>
      {workspace?.id === workspaceId ? (
        <div className="flex flex-col gap-4">
          <NameCard workspace={workspace} />
          <FingerprintCard workspaceId={workspaceId} />
          <KeyCard workspace={workspace} />
          {managesNotices ? (
            <Suspense fallback={<SkeletonRows count={2} />}>
              <NoticeTargets workspaceId={workspaceId} />
            </Suspense>
          ) : null}
          <EndCard workspace={workspace} />
        </div>
      ) : (
        <SkeletonRows count={4} height={56} />
      )}
    </Screen>
  )
}

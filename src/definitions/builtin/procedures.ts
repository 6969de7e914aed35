/** The procedures that come inside the binary. */
import agentsSync from "../../../procedures/agents-sync.yaml" with { type: "text" };
import auditAgents from "../../../procedures/audit-agents.yaml" with { type: "text" };
import auditImpl from "../../../procedures/audit-impl.yaml" with { type: "text" };
import auditImplToSpec from "../../../procedures/audit-impl-to-spec.yaml" with { type: "text" };
import auditSpec from "../../../procedures/audit-spec.yaml" with { type: "text" };
import auditSpecToImpl from "../../../procedures/audit-spec-to-impl.yaml" with { type: "text" };
import auto from "../../../procedures/auto.yaml" with { type: "text" };
import bootstrap from "../../../procedures/bootstrap.yaml" with { type: "text" };
import build from "../../../procedures/build.yaml" with { type: "text" };
import draftPlanImplChore from "../../../procedures/draft-plan-impl-chore.yaml" with { type: "text" };
import draftPlanImplFeat from "../../../procedures/draft-plan-impl-feat.yaml" with { type: "text" };
import draftPlanImplFix from "../../../procedures/draft-plan-impl-fix.yaml" with { type: "text" };
import draftPlanImplRefactor from "../../../procedures/draft-plan-impl-refactor.yaml" with { type: "text" };
import draftPlanSpecChore from "../../../procedures/draft-plan-spec-chore.yaml" with { type: "text" };
import draftPlanSpecFeat from "../../../procedures/draft-plan-spec-feat.yaml" with { type: "text" };
import draftPlanSpecFix from "../../../procedures/draft-plan-spec-fix.yaml" with { type: "text" };
import draftPlanSpecRefactor from "../../../procedures/draft-plan-spec-refactor.yaml" with { type: "text" };
import publishPlan from "../../../procedures/publish-plan.yaml" with { type: "text" };

/** In the order in which they are listed. */
export const PROCEDURES: ReadonlyMap<string, string> = new Map([
  ["build", build],
  ["auto", auto],
  ["bootstrap", bootstrap],
  ["agents-sync", agentsSync],
  ["draft-plan-impl-feat", draftPlanImplFeat],
  ["publish-plan", publishPlan],
  ["audit-impl", auditImpl],
  ["audit-spec", auditSpec],
  ["audit-agents", auditAgents],
  ["audit-spec-to-impl", auditSpecToImpl],
  ["audit-impl-to-spec", auditImplToSpec],
  ["draft-plan-impl-fix", draftPlanImplFix],
  ["draft-plan-impl-refactor", draftPlanImplRefactor],
  ["draft-plan-impl-chore", draftPlanImplChore],
  ["draft-plan-spec-feat", draftPlanSpecFeat],
  ["draft-plan-spec-fix", draftPlanSpecFix],
  ["draft-plan-spec-refactor", draftPlanSpecRefactor],
  ["draft-plan-spec-chore", draftPlanSpecChore],
]);

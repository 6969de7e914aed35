/** The fragments that come inside the binary, by what follows `builtin:`. */
import actClaimTask from "../../../fragments/act/claim_task.md" with { type: "text" };
import actCloseTask from "../../../fragments/act/close_task.md" with { type: "text" };
import actCommitChange from "../../../fragments/act/commit_change.md" with { type: "text" };
import actCreateTasks from "../../../fragments/act/create_tasks.md" with { type: "text" };
import actEmitFailure from "../../../fragments/act/emit_failure.md" with { type: "text" };
import actEmitSignal from "../../../fragments/act/emit_signal.md" with { type: "text" };
import actEmitSuccess from "../../../fragments/act/emit_success.md" with { type: "text" };
import actFollowWorkflow from "../../../fragments/act/follow_workflow.md" with { type: "text" };
import actImplementChange from "../../../fragments/act/implement_change.md" with { type: "text" };
import actLookForMore from "../../../fragments/act/look_for_more.md" with { type: "text" };
import actPlanFile from "../../../fragments/act/plan_file.md" with { type: "text" };
import actReportFile from "../../../fragments/act/report_file.md" with { type: "text" };
import actUpdateAgentsMd from "../../../fragments/act/update_agents_md.md" with { type: "text" };
import actVerifyChange from "../../../fragments/act/verify_change.md" with { type: "text" };
import actWriteAgentsMd from "../../../fragments/act/write_agents_md.md" with { type: "text" };
import actWriteAuditReport from "../../../fragments/act/write_audit_report.md" with { type: "text" };
import actWriteDraftPlan from "../../../fragments/act/write_draft_plan.md" with { type: "text" };
import actWriteGapReport from "../../../fragments/act/write_gap_report.md" with { type: "text" };
import decideCheckIfBlocked from "../../../fragments/decide/check_if_blocked.md" with { type: "text" };
import decideChooseApproach from "../../../fragments/decide/choose_approach.md" with { type: "text" };
import decideChooseEdits from "../../../fragments/decide/choose_edits.md" with { type: "text" };
import decideCutTasks from "../../../fragments/decide/cut_tasks.md" with { type: "text" };
import decideDecideSignal from "../../../fragments/decide/decide_signal.md" with { type: "text" };
import decideOrderCreation from "../../../fragments/decide/order_creation.md" with { type: "text" };
import decideOrderFindings from "../../../fragments/decide/order_findings.md" with { type: "text" };
import decidePickTask from "../../../fragments/decide/pick_task.md" with { type: "text" };
import observeCheckRepository from "../../../fragments/observe/check_repository.md" with { type: "text" };
import observeListReadyWork from "../../../fragments/observe/list_ready_work.md" with { type: "text" };
import observeReadAgentsMd from "../../../fragments/observe/read_agents_md.md" with { type: "text" };
import observeReadCode from "../../../fragments/observe/read_code.md" with { type: "text" };
import observeReadEarlierOutput from "../../../fragments/observe/read_earlier_output.md" with { type: "text" };
import observeReadPlan from "../../../fragments/observe/read_plan.md" with { type: "text" };
import observeReadSpecs from "../../../fragments/observe/read_specs.md" with { type: "text" };
import observeReadTaskInput from "../../../fragments/observe/read_task_input.md" with { type: "text" };
import observeRunChecks from "../../../fragments/observe/run_checks.md" with { type: "text" };
import observeSurveyProject from "../../../fragments/observe/survey_project.md" with { type: "text" };
import orientCompareAgentsMd from "../../../fragments/orient/compare_agents_md.md" with { type: "text" };
import orientDeriveCommands from "../../../fragments/orient/derive_commands.md" with { type: "text" };
import orientJudgeAgentsMd from "../../../fragments/orient/judge_agents_md.md" with { type: "text" };
import orientJudgeCode from "../../../fragments/orient/judge_code.md" with { type: "text" };
import orientJudgeSpecs from "../../../fragments/orient/judge_specs.md" with { type: "text" };
import orientMatchPlanWithTracker from "../../../fragments/orient/match_plan_with_tracker.md" with { type: "text" };
import orientTargetCode from "../../../fragments/orient/target_code.md" with { type: "text" };
import orientTargetSpecs from "../../../fragments/orient/target_specs.md" with { type: "text" };
import orientTraceCodeToSpecs from "../../../fragments/orient/trace_code_to_specs.md" with { type: "text" };
import orientTraceSpecsToCode from "../../../fragments/orient/trace_specs_to_code.md" with { type: "text" };
import orientUnderstandChore from "../../../fragments/orient/understand_chore.md" with { type: "text" };
import orientUnderstandFeat from "../../../fragments/orient/understand_feat.md" with { type: "text" };
import orientUnderstandFix from "../../../fragments/orient/understand_fix.md" with { type: "text" };
import orientUnderstandRefactor from "../../../fragments/orient/understand_refactor.md" with { type: "text" };
import orientWeighFindings from "../../../fragments/orient/weigh_findings.md" with { type: "text" };
import orientWeighReadyWork from "../../../fragments/orient/weigh_ready_work.md" with { type: "text" };

export const FRAGMENTS: ReadonlyMap<string, string> = new Map([
  ["act/claim_task.md", actClaimTask],
  ["act/close_task.md", actCloseTask],
  ["act/commit_change.md", actCommitChange],
  ["act/create_tasks.md", actCreateTasks],
  ["act/emit_failure.md", actEmitFailure],
  ["act/emit_signal.md", actEmitSignal],
  ["act/emit_success.md", actEmitSuccess],
  ["act/follow_workflow.md", actFollowWorkflow],
  ["act/implement_change.md", actImplementChange],
  ["act/look_for_more.md", actLookForMore],
  ["act/plan_file.md", actPlanFile],
  ["act/report_file.md", actReportFile],
  ["act/update_agents_md.md", actUpdateAgentsMd],
  ["act/verify_change.md", actVerifyChange],
  ["act/write_agents_md.md", actWriteAgentsMd],
  ["act/write_audit_report.md", actWriteAuditReport],
  ["act/write_draft_plan.md", actWriteDraftPlan],
  ["act/write_gap_report.md", actWriteGapReport],
  ["decide/check_if_blocked.md", decideCheckIfBlocked],
  ["decide/choose_approach.md", decideChooseApproach],
  ["decide/choose_edits.md", decideChooseEdits],
  ["decide/cut_tasks.md", decideCutTasks],
  ["decide/decide_signal.md", decideDecideSignal],
  ["decide/order_creation.md", decideOrderCreation],
  ["decide/order_findings.md", decideOrderFindings],
  ["decide/pick_task.md", decidePickTask],
  ["observe/check_repository.md", observeCheckRepository],
  ["observe/list_ready_work.md", observeListReadyWork],
  ["observe/read_agents_md.md", observeReadAgentsMd],
  ["observe/read_code.md", observeReadCode],
  ["observe/read_earlier_output.md", observeReadEarlierOutput],
  ["observe/read_plan.md", observeReadPlan],
  ["observe/read_specs.md", observeReadSpecs],
  ["observe/read_task_input.md", observeReadTaskInput],
  ["observe/run_checks.md", observeRunChecks],
  ["observe/survey_project.md", observeSurveyProject],
  ["orient/compare_agents_md.md", orientCompareAgentsMd],
  ["orient/derive_commands.md", orientDeriveCommands],
  ["orient/judge_agents_md.md", orientJudgeAgentsMd],
  ["orient/judge_code.md", orientJudgeCode],
  ["orient/judge_specs.md", orientJudgeSpecs],
  ["orient/match_plan_with_tracker.md", orientMatchPlanWithTracker],
  ["orient/target_code.md", orientTargetCode],
  ["orient/target_specs.md", orientTargetSpecs],
  ["orient/trace_code_to_specs.md", orientTraceCodeToSpecs],
  ["orient/trace_specs_to_code.md", orientTraceSpecsToCode],
  ["orient/understand_chore.md", orientUnderstandChore],
  ["orient/understand_feat.md", orientUnderstandFeat],
  ["orient/understand_fix.md", orientUnderstandFix],
  ["orient/understand_refactor.md", orientUnderstandRefactor],
  ["orient/weigh_findings.md", orientWeighFindings],
  ["orient/weigh_ready_work.md", orientWeighReadyWork],
]);

%% Pawl: one line for each test of ExUnit, into PAWL_REPORT_DIR. It is compiled when the virtual machine starts.
-module(pawl_exunit).
-behaviour(gen_server).
-export([init/1, handle_call/3, handle_cast/2]).

init(_) ->
    %% A second suite in the same machine (an umbrella project) finds no variable any more.
    case application:get_env(ex_unit, pawl_folder, os:getenv("PAWL_REPORT_DIR")) of
        false -> {ok, none};
        Folder -> {ok, start(Folder)}
    end.

start(Folder) ->
    application:set_env(ex_unit, pawl_folder, Folder),
    {ok, Cwd} = file:get_cwd(),
    {ok, Version} = application:get_key(ex_unit, vsn),
    Name = io_lib:format("exunit-~s-~b.ndjson", [os:getpid(), os:system_time(microsecond)]),
    Path = filename:join(Folder, Name),
    say(Path, [{"ev", "start"}, {"runner", "exunit"}, {"version", Version}, {"cwd", Cwd}]),
    clean_environment(),
    Path.

handle_call(_, _, Path) -> {reply, ok, Path}.

handle_cast({test_finished, #{state := State, module := Module, name := Name, tags := Tags}}, Path) ->
    File = maps:get(file, Tags, <<>>),
    say(Path, [{"ev", "test"}, {"file", File}, {"name", [module_name(Module), Name]}, {"status", status(State)}]),
    {noreply, Path};
handle_cast({suite_finished, _}, Path) ->
    say(Path, [{"ev", "end"}]),
    {noreply, Path};
handle_cast({suite_finished, _, _}, Path) ->
    say(Path, [{"ev", "end"}]),
    {noreply, Path};
handle_cast(_, Path) -> {noreply, Path}.

status(nil) -> "passed";
status({skipped, _}) -> "skipped";
status({skip, _}) -> "skipped";
status({excluded, _}) -> "skipped";
status(_) -> "failed".

module_name(Module) ->
    case atom_to_list(Module) of
        "Elixir." ++ Name -> Name;
        Name -> Name
    end.

%% Only the outermost runner reports: what the tests start must find no trace of us.
clean_environment() ->
    Names = string:tokens(text(os:getenv("PAWL_REPORT_VARS")), " "),
    [restore(Name, os:getenv("PAWL_WAS_" ++ Name)) || Name <- Names],
    [os:unsetenv(Name) || Name <- ["PAWL_REPORT_DIR", "PAWL_REPORT_VARS"]].

restore(Name, false) -> os:unsetenv(Name);
restore(Name, Before) -> os:putenv(Name, Before).

text(false) -> "";
text(Text) -> Text.

say(none, _) -> ok;
say(Path, Fields) ->
    Line = lists:join($,, [[json(Key), $:, json(Value)] || {Key, Value} <- Fields]),
    file:write_file(Path, [${, Line, "}\n"], [append]).

json(Text) when is_atom(Text) -> json(atom_to_binary(Text, utf8));
json(Text) when is_binary(Text) -> [$", [escape(Byte) || <<Byte>> <= Text], $"];
json([First | _] = Texts) when is_atom(First); is_binary(First); is_list(First) ->
    [$[, lists:join($,, [json(Text) || Text <- Texts]), $]];
json(Text) -> json(unicode:characters_to_binary(Text)).

escape($") -> "\\\"";
escape($\\) -> "\\\\";
escape(Byte) when Byte < 32 -> io_lib:format("\\u~4.16.0b", [Byte]);
escape(Byte) -> Byte.
